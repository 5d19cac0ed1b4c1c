/** `host:port`, where an IPv6 address stands in brackets. */
export function isHostPort(text: string): boolean {
  const port = Number(
    /^[^\s/:@]+:(\d{1,5})$|^\[[0-9a-f:.]+\]:(\d{1,5})$/i.exec(text)?.[0].split(':').at(-1),
  );
  return port >= 1 && port <= 65535;
}

/** An address with one of these protocols. */
export function hasProtocol(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}
