import { isIP } from 'node:net';

/** Splits `host:port` or `[address]:port`; undefined if it is neither and there is no usual port. */
export function hostPort(
  text: string,
  usualPort?: number,
): { readonly host: string; readonly port: number } | undefined {
  const [, inBrackets, plain, digits] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain ?? (isIP(text) === 6 ? text : undefined);
  const port = digits === undefined ? usualPort : Number(digits);
  const isHost = host !== undefined && (inBrackets === undefined ? isName(host) : isIP(host) === 6);
  return isHost && port !== undefined && port > 0 && port <= 65_535 ? { host, port } : undefined;
}

/** Returns whether a text is a host name or an address. */
export const isName = (text: string): boolean =>
  isIP(text) !== 0 || /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(text);
