import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** JSON lines on stderr, so that stdout stays free for answers of commands. */
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
        // PostgreSQL puts the values of the row there.
        '*.detail',
      ],
    },
    destination,
  )
}
