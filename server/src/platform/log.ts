import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** Writes JSON lines to stderr, so that stdout stays free for command output. */
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
        // PostgreSQL puts the row's values there.
        '*.detail',
      ],
    },
    destination,
  )
}
