/** A line that opens or closes a block of code, with its language. */
const fence = /^\s{0,3}(`{3,}|~{3,})[^`\n]*$/;

/**
 * Splits a text into parts that fit, at the last empty line, line or word of each; a block of code
 * that is split is closed and opened again. `most`: parts after which the rest is dropped, marked.
 */
export function inParts(
  text: string,
  fits: (part: string) => boolean,
  most: number,
): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  while (!fits(rest)) {
    if (parts.length === most - 1) {
      return [
        ...parts,
        `${rest.slice(
          0,
          longest(rest, (part) => fits(`${part}\n…`)),
        )}\n…`,
      ];
    }
    const { part, left } = split(rest, fits);
    parts.push(part);
    rest = left;
  }
  return rest.trim() === '' && parts.length > 0 ? parts : [...parts, rest];
}

function split(
  text: string,
  fits: (part: string) => boolean,
): { readonly part: string; readonly left: string } {
  // The end of a block of code has to fit as well.
  const max = longest(text, (part) => fits(`${part}\n\`\`\``));
  const window = text.slice(0, max);
  const at =
    [/\n\s*\n(?!.*\n\s*\n)/s, /\n(?!.*\n)/s, /\s(?!.*\s)/s]
      .map((seam) => window.search(seam))
      // Never a part with little in it for a nicer seam.
      .find((found) => found > max / 2) ?? max;
  const [part, left] = [text.slice(0, at).trimEnd(), text.slice(at).replace(/^[ \t]*\n+/, '')];
  const opened = openFence(part);
  return opened === undefined
    ? { part, left: left.trimStart() }
    : { part: `${part}\n${opened.mark}`, left: `${opened.line}\n${left}` };
}

/** Returns the opening line of the block of code that the text ends in. */
function openFence(text: string): { readonly line: string; readonly mark: string } | undefined {
  let opened: { readonly line: string; readonly mark: string } | undefined;
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (mark !== undefined) {
      opened = opened === undefined ? { line: line.trim(), mark } : undefined;
    }
  }
  return opened;
}

/** Returns the length of the longest prefix that fits, without splitting a character; at least one. */
function longest(text: string, fits: (part: string) => boolean): number {
  let [low, high] = [1, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(text.slice(0, middle))) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const last = text.charCodeAt(low - 1);
  return last >= 0xd800 && last < 0xdc00 ? Math.max(1, low - 1) : low;
}
