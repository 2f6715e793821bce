import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** Writes log lines as JSON to stderr, so that stdout has only command output. */
export function openLog(level: string, destination: DestinationStream = pino.destination(2)): Log {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
      redact: [
        'authorization',
        '*.authorization',
        '*.password',
        '*.secret',
        '*.headers.authorization',
        '*.headers.cookie',
        // PostgreSQL errors have the row's values in `detail`.
        '*.detail',
      ],
    },
    destination,
  )
}
