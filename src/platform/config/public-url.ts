/** The names of this machine for itself. */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The addresses by which callers may know this instance: the configured one and, where that is of
 * this machine only, the same under its other names. Clients compare addresses as texts.
 */
export function publicUrls(publicUrl: string): readonly string[] {
  const { protocol, hostname, host } = new URL(publicUrl);
  if (protocol !== 'http:' || !loopbackNames.includes(hostname)) return [publicUrl];
  const rest = publicUrl.slice(`http://${host}`.length);
  const port = host.slice(hostname.length);
  return loopbackNames.map((name) => `http://${name}${port}${rest}`);
}

/**
 * The address that a caller knows who sent this `Host`. A name that is none of ours changes nothing:
 * nobody can make an instance call itself by theirs.
 */
export const publicUrlFor = (publicUrl: string, host: string): string =>
  publicUrls(publicUrl).find((one) => new URL(one).host === host) ?? publicUrl;

/** What tokens may be meant for: an instance known by this address, or its MCP server (RFC 8707). */
export const resourcesOf = (publicUrl: string): readonly [issuer: string, mcp: string] => [
  publicUrl,
  `${publicUrl}/mcp`,
];
