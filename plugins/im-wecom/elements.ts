/** Callbacks have a dozen. */
const maxElements = 100;
const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

/**
 * The elements right below the root of a callback's XML, by name, as text. Undefined for anything that declares or refers to what is
 * elsewhere, and for what is not of that form: there is no parser here that could be made to fetch.
 */
export function elementsOf(xml: string): Readonly<Record<string, string>> | undefined {
  if (/<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)|<\?(?!xml )/i.test(xml)) {
    return undefined;
  }
  const inner = /^\s*(?:<\?xml [^>]{0,200}\?>\s*)?<xml>([^]*)<\/xml>\s*$/.exec(xml)?.[1];
  if (inner === undefined) {
    return undefined;
  }
  const elements: Record<string, string> = Object.create(null) as Record<string, string>;
  let at = 0;
  for (let count = 0; count < maxElements; count++) {
    at = skipped(inner, at);
    const name = /^<([A-Za-z]\w{0,63})>/.exec(inner.slice(at, at + 70))?.[1];
    if (name === undefined) {
      return at === inner.length ? elements : undefined;
    }
    const begin = at + name.length + 2;
    const isRaw = inner.startsWith('<![CDATA[', begin);
    const end = isRaw ? inner.indexOf(`]]></${name}>`, begin) : inner.indexOf(`</${name}>`, begin);
    if (end < 0) {
      return undefined;
    }
    elements[name] ??= isRaw ? inner.slice(begin + 9, end) : plain(inner.slice(begin, end));
    at = end + name.length + (isRaw ? 6 : 3);
  }
  return undefined;
}

function skipped(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at]!)) {
    at += 1;
  }
  return at;
}

const plain = (text: string): string =>
  text.replaceAll(/&(lt|gt|amp|quot|apos);/g, (_all, name: string) => entities[name]!).trim();
