import { readFrontMatter } from 'svc/markdown-file';

interface ForeignText {
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** True if its header is not YAML; it was then parsed line by line. */
  readonly loose: boolean;
}

/** Header and text of a file that was written for others, who take what YAML does not. */
export function readForeign(text: string): ForeignText {
  try {
    return { ...readFrontMatter(text, { maxBytes: 256 * 1024 }), loose: false };
  } catch {
    const plain = text.replace(/^\uFEFF/, '');
    const [, header, body] =
      /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n([^]*))?$/.exec(plain) ?? [];
    return header === undefined
      ? { header: {}, body: plain, loose: false }
      : { header: byLines(header), body: body ?? '', loose: true };
  }
}

/** `key: the rest of the line`, and what follows until the next key. */
function byLines(header: string): Readonly<Record<string, unknown>> {
  const found = new Map<string, string>();
  let key = '';
  for (const line of header.split(/\r?\n/).slice(0, 2_000)) {
    const [, next, value = ''] = /^([A-Za-z][A-Za-z0-9_-]{0,40}):(?:\s+(.*))?$/.exec(line) ?? [];
    if (next !== undefined) {
      key = next;
      found.set(key, value.replace(/^[|>][-+]?$/, ''));
    } else if (key !== '') {
      found.set(key, `${found.get(key)}\n${line.trim()}`.trim());
    }
  }
  return Object.fromEntries(
    [...found].map(([name, value]) => [name, value.replaceAll(/^(["'])([^]*)\1$/g, '$2')]),
  );
}

/** Writes our header; JSON is valid YAML. */
export const written = (header: Readonly<Record<string, unknown>>, body: string): Uint8Array =>
  Buffer.from(
    `---\n${Object.entries(header)
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
      .join('')}---\n${body}`,
  );

/** Names in a text or a list: `Read, Bash(git log:*)` names two. */
export function names(value: unknown): readonly string[] {
  const texts =
    typeof value === 'string'
      ? (value.match(/[^\s,()[\]"']+(?:\([^()]*\))?/g) ?? [])
      : Array.isArray(value)
        ? value
        : [];
  return texts
    .filter((text): text is string => typeof text === 'string' && text !== '' && text.length <= 128)
    .slice(0, 100);
}
