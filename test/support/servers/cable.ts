import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** The way to a server, as a cable that a test can pull out and put back. */
export interface Cable {
  /** The same address through the cable. */
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Nothing passes any more, and nobody is told: the server seems to hang. */
  hold(): void;
  release(): void;
}

/** Listens on a port of its own, unless one is given, and passes on to the server of the address. */
export async function layCable(target: string, givenPort = 0): Promise<Cable> {
  const { hostname, port } = new URL(target);
  const ends = new Set<Socket>();
  let isHeld = false;
  const server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port) });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
      from.pipe(to);
      if (isHeld) from.pause();
    }
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', resolve);
    });
  await listen(givenPort);
  const ownPort = (server.address() as AddressInfo).port;
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return {
    url: url.href,
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const end of ends) end.destroy();
      }),
    mend: () => listen(ownPort),
    hold() {
      isHeld = true;
      for (const end of ends) end.pause();
    },
    release() {
      isHeld = false;
      for (const end of ends) end.resume();
    },
  };
}

/** A way to the database of an instance that is opened with `route`: the cable is laid then. */
export function cableToDatabase(): Omit<Cable, 'url'> & {
  readonly route: (databaseUrl: string) => Promise<string>;
} {
  let laid: Cable | undefined;
  const cable = (): Cable => {
    if (laid === undefined) throw new Error('No instance has been opened over this cable.');
    return laid;
  };
  return {
    async route(databaseUrl) {
      laid = await layCable(databaseUrl);
      return laid.url;
    },
    cut: () => cable().cut(),
    mend: () => cable().mend(),
    hold: () => cable().hold(),
    release: () => cable().release(),
  };
}
