import { connect, type Socket } from 'node:net';

/** An answer as it was read from a connection. */
export interface ReadAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A connection on which a test sends bytes of its own, and reads answers one by one. */
export class RawConnection {
  readonly socket: Socket;
  #text = '';
  isClosed = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk: Buffer) => (this.#text += chunk.toString('latin1')));
    this.socket.on('error', () => undefined);
    this.socket.once('close', () => (this.isClosed = true));
    this.socket.once('end', () => (this.isClosed = true));
  }

  send(bytes: string | Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Sends bytes as chunks of a chunked body, waiting where the connection is full; false: it closed. */
  async sendChunks(total: number, size = 64 * 1024): Promise<boolean> {
    const chunk = Buffer.from(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
    for (let sent = 0; sent < total; sent += size) {
      if (this.socket.destroyed) return false;
      if (!this.socket.write(chunk)) {
        await new Promise<void>((resolve) => {
          // Of the two only one comes: the other must not stay behind, once for each chunk.
          const go = (): void => {
            this.socket.off('drain', go).off('close', go);
            resolve();
          };
          this.socket.once('drain', go).once('close', go);
        });
      }
    }
    this.send('0\r\n\r\n');
    return !this.socket.destroyed;
  }

  /** The next answer; undefined where the connection was closed instead. Rejects after the time. */
  async answer(ms = 4_000): Promise<ReadAnswer | undefined> {
    const deadline = performance.now() + ms;
    for (;;) {
      const found = this.#take();
      if (found) return found;
      if (this.isClosed) return undefined;
      if (performance.now() > deadline) throw new Error(`No answer within ${ms} ms: ${this.#text}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #take(): ReadAnswer | undefined {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const head = this.#text.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const body = this.#text.slice(end + 4, end + 4 + length);
    if (body.length < length) return undefined;
    this.#text = this.#text.slice(end + 4 + length);
    return { status: Number(/^HTTP\/1.1 (\d{3})/.exec(head)?.[1]), head, body };
  }

  async closed(ms = 8_000): Promise<void> {
    const deadline = performance.now() + ms;
    while (!this.isClosed) {
      if (performance.now() > deadline) throw new Error(`Not closed within ${ms} ms.`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  close(): void {
    this.socket.destroy();
  }
}
