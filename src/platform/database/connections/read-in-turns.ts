import type { Readable } from 'node:stream';

/**
 * Pieces from this length on are followed by a turn for everybody else: Node takes up to 64 KiB from a socket at
 * once, so one that is shorter was all that had come.
 */
const longPieceBytes = 32_768;

/**
 * Makes a connection rest after each long piece of an answer until the next turn of the event loop. Node takes up to
 * 32 pieces of one socket in a turn, 2 MiB, and the driver makes rows of all of it before anything else is done
 * (docs/decisions/0544-long-answers-are-read-in-turns.md).
 */
export function readInTurns(stream: Readable): void {
  stream.on('data', (piece: Buffer) => {
    if (piece.length < longPieceBytes) return;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
