import { pino, type Logger } from 'pino';

export type { Logger };

/** The log of this process: JSON lines on standard output, without secrets. */
export function openLog(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['authorization', '*.authorization', 'headers.authorization', '*.secret', '*.token'],
  });
}
