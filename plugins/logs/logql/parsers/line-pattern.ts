/** A pattern such as `<ip> - <_> "<method> <path>"`: literals and captures in turn; an unnamed capture is `_`. */
export type PatternPart = { readonly literal: string } | { readonly capture: string };

const capture = /<([A-Za-z_][A-Za-z0-9_]*)>/g;

export function patternParts(text: string): PatternPart[] {
  const parts: PatternPart[] = [];
  let from = 0;
  for (const match of text.matchAll(capture)) {
    if (match.index > from) {
      parts.push({ literal: text.slice(from, match.index) });
    } else if (parts.length > 0) {
      throw new Error(
        `found consecutive capture '${text.slice(0, match.index + match[0].length)}': a text must stand between them`,
      );
    }
    parts.push({ capture: match[1]! });
    from = match.index + match[0].length;
  }
  if (from < text.length) {
    parts.push({ literal: text.slice(from) });
  }
  return parts;
}

/** Compiles the pattern of `| pattern`: the names, and a function that captures them. */
export function capturePattern(text: string): {
  readonly names: readonly string[];
  capture(line: string, found: (index: number, value: string) => void): void;
} {
  const parts = patternParts(text);
  const names = parts.flatMap((part) =>
    'capture' in part && part.capture !== '_' ? [part.capture] : [],
  );
  if (names.length === 0) {
    throw new Error('at least one capture is required');
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new Error(`duplicate capture name (${twice})`);
  }
  return {
    names,
    capture(line, found) {
      let at = 0;
      let index = 0;
      let open: string | undefined;
      for (const part of parts) {
        if ('capture' in part) {
          open = part.capture;
          continue;
        }
        const next = line.indexOf(part.literal, at);
        if (next < 0 || (open === undefined && next !== 0)) {
          break;
        }
        if (open !== undefined && open !== '_') {
          found(index++, line.slice(at, next));
        }
        open = undefined;
        at = next + part.literal.length;
      }
      if (open !== undefined && open !== '_') {
        found(index, line.slice(at));
      }
    },
  };
}

/**
 * Compiles the pattern of `|>` and `!>`, which matches the whole line; a capture stands for at
 * least one character.
 */
export function lineMatcher(text: string): {
  test(line: string): boolean;
  readonly longest: string;
} {
  const parts = patternParts(text);
  const named = parts.find((part) => 'capture' in part && part.capture !== '_');
  if (named !== undefined) {
    throw new Error(`named captures are not allowed: <${'capture' in named ? named.capture : ''}>`);
  }
  const literals = parts.flatMap((part) => ('literal' in part ? [part.literal] : []));
  const longest = literals.reduce(
    (best, literal) => (literal.length > best.length ? literal : best),
    '',
  );
  const opens = parts.length > 0 && 'capture' in parts[0]!;
  const ends = parts.length > 0 && 'capture' in parts.at(-1)!;
  return {
    longest,
    test(line) {
      let at = 0;
      for (let i = 0; i < literals.length; i++) {
        const captured = i > 0 || opens;
        const last = i === literals.length - 1 && !ends;
        const next = last
          ? line.length - literals[i]!.length
          : line.indexOf(literals[i]!, captured ? at + 1 : at);
        if (
          next < at + (captured ? 1 : 0) ||
          (!captured && next !== 0) ||
          (last && !line.endsWith(literals[i]!))
        ) {
          return false;
        }
        at = next + literals[i]!.length;
      }
      return ends ? at < line.length : at === line.length;
    },
  };
}
