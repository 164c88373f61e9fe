/** `*` stands for any text, without going back further than to the last one. */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  if (rest.length === 0) {
    return text === glob;
  }
  const last = rest.pop()!;
  if (!text.startsWith(first) || !text.endsWith(last)) {
    return false;
  }
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) {
      return false;
    }
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
