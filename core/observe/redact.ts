/**
 * The one choke point between what svc knows and what it writes down. Log lines, causes kept in the
 * database and audit rows pass through here; a secret is found by the name it stands under or by its shape.
 */
const hidden = '[redacted]';

const maxText = 8 * 1024;
const maxDepth = 6;
const maxItems = 50;
const maxNodes = 1_000;

/** A copy of `value` that is safe to write: secrets hidden, plain data only, bounded in depth, breadth and text. */
export const redact = (value: unknown): unknown =>
  copy(value, { depth: 0, path: new Set(), nodes: { left: maxNodes } });

/** Redacts everything in `text` that looks like a secret. */
export function redactText(text: string): string {
  if (text.length <= maxText && !suspicious.test(text)) {
    return text;
  }
  let safe = text.length > maxText * 2 ? withoutCutWord(text.slice(0, maxText * 2)) : text;
  for (const [shape, replacement] of secretShapes) {
    safe = safe.replace(shape, replacement);
  }
  return text.length > maxText ? `${safe.slice(0, maxText)}… (${text.length} characters)` : safe;
}

/**
 * Returns whether a value under this name is a secret, however the name is spelt (`apiKey`,
 * `X-Api-Key`, `api_key`).
 */
export function isSecretName(name: string): boolean {
  const letters = name.slice(0, 200).replace(/[^a-z0-9]/gi, '');
  return secretName.test(letters) && !harmlessName.test(letters);
}

const secretName =
  /passw(or)?d|passphrase|pwd|secret|token|authorization|cookie|credential|apikey|privatekey|(signing|encrypt|encryption|master|seal|ssh|session|hmac)key|^otp$|^pin$/i;

/** Matches names like those of secrets that only state a kind. */
const harmlessName = /^(publickey|tokentype|tokenkind)$/i;

/** `max_tokens: 4096` and `token_ttl_seconds: 900` are measures; only their numbers may pass. */
const measureName = /(tokens|count|limit|total|length|bytes|ms|seconds)$/i;

const namesInText =
  '(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_]?key|secret[-_]?key|private[-_]?key|encrypt[-_]?key|credentials?|authorization|cookie)';

/**
 * Ordered: what spans most goes first, so that a narrow shape cannot cut a wide one in two. Every shape is linear
 * in the text, which strangers write: no repetition stands before a word that has to be found.
 */
const secretShapes: readonly (readonly [RegExp, string])[] = [
  // A PEM block, also one whose end was cut off.
  [/-----BEGIN [^-\n]{1,60}-----[\s\S]*?(?:-----END [^-\n]{1,60}-----|$)/g, hidden],
  // A whole header line.
  [
    /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:token|key|secret))(\s*:\s*)(?![\s"'\\])[^\r\n]+/gi,
    `$1$2${hidden}`,
  ],
  // `"password":"…"`, also inside text that was escaped once more.
  [
    new RegExp(`(${namesInText}\\\\+["']\\s*:\\s*)\\\\+"(?:(?!\\\\+")[\\s\\S])*`, 'gi'),
    `$1"${hidden}`,
  ],
  [
    new RegExp(`(${namesInText}["']?\\s*[:=]\\s*)(["'\`])(?:(?!\\2)[^\\\\]|\\\\[\\s\\S])*`, 'gi'),
    `$1$2${hidden}`,
  ],
  [new RegExp(`(${namesInText}["']\\s*:\\s*)(?![\\s"'\\\\])[^\\s,;}\\]]+`, 'gi'), `$1${hidden}`],
  // `password=…`, and the names that addresses use for keys.
  [new RegExp(`(${namesInText}=)(?!["'\`])[^\\s&;,#"'<>)}\\]]+`, 'gi'), `$1${hidden}`],
  [/([?&](?:key|sig|signature|code|sign|ticket)=)[^\s&#"'<>]+/gi, `$1${hidden}`],
  [
    /\b(Bearer|Basic)\s+(?!(?:authenti|authori|credential|token|scheme|realm|user)\w*\b)[\w.~+/=-]{4,}/gi,
    `$1 ${hidden}`,
  ],
  [/:\/\/[^\s/?#"'<>]*@/g, `://${hidden}@`],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*){1,4}/g, hidden],
  [/\bsvc_(?:sk|pat)_[\w-]+/g, hidden],
  // Any other key of ours; `svc_ak_` only names an edge, and metric names carry no digits or capitals.
  [/\bsvc_(?!ak_)[a-z]{2,6}_(?=[a-z_-]*[0-9A-Z])[\w-]{16,}/g, hidden],
  [/\bsvc\.ticket\.[\w.-]+/g, hidden],
  [/\b(?:sk-|gh[opsur]_|github_pat_|glpat-|xapp-|AIza)[\w-]{8,}/g, hidden],
  [/\bxox[a-z]-[\w-]+/g, hidden],
  [/\bbot\d+:[\w-]+/g, hidden],
  [/\b\d{8,12}:[\w-]{30,}/g, hidden],
  // Webhook addresses are themselves secrets.
  [
    /(hooks\.slack\.com\/\w+\/|\/open-apis\/bot\/v2\/hook\/|discord(?:app)?\.com\/api\/webhooks\/)[^\s"'?<>]+/g,
    `$1${hidden}`,
  ],
];

/** Matches a part of every shape above: one quick test clears most text. */
const suspicious =
  /passw|passphrase|pwd|secret|token|api[-_]?key|\bx-|private|encrypt|credential|auth|cookie|-----|bearer|basic|:\/\/|eyJ|svc[_.]|sk-|gh[opsur]_|github_pat|glpat|xapp|AIza|xox|bot\d|\d:|hook|[?&]/i;

/**
 * Drops the last word: a cut may have split a secret, so that its rest no longer has the shape of
 * one.
 */
const withoutCutWord = (text: string): string =>
  text.slice(0, Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n'), 0));

interface Walk {
  readonly depth: number;
  /** The containers above this one, to see a cycle. */
  readonly path: Set<object>;
  readonly nodes: { left: number };
}

function copy(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value);
    case 'bigint':
    case 'symbol':
      return redactText(String(value));
    case 'function':
      return '[function]';
    case 'object':
      return value === null ? null : copyObject(value, walk);
    default:
      return value;
  }
}

function copyObject(value: object, walk: Walk): unknown {
  if (walk.path.has(value)) {
    return '[circular]';
  }
  if (walk.depth >= maxDepth || walk.nodes.left <= 0) {
    return '[…]';
  }
  walk.path.add(value);
  try {
    return copyParts(value, { ...walk, depth: walk.depth + 1 });
  } catch {
    // A getter or a revoked proxy threw: a log line must never fail because of its content.
    return '[unreadable]';
  } finally {
    walk.path.delete(value);
  }
}

function copyParts(value: object, walk: Walk): unknown {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return `[${value.byteLength} bytes]`;
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
  }
  if (value instanceof URL || value instanceof RegExp) {
    return redactText(String(value));
  }
  if (value instanceof Error) {
    return copyEntries(errorParts(value), walk);
  }
  if (value instanceof Map || isHeaders(value) || value instanceof URLSearchParams) {
    return copyEntries(
      [...value].map(([key, part]) => [String(key), part]),
      walk,
    );
  }
  return Array.isArray(value) || value instanceof Set
    ? copyList([...value], walk)
    : copyEntries(Object.entries(value), walk);
}

/**
 * Returns whether a value is Headers, by name first: using the global loads all of fetch, which is
 * a tenth of an agent's allowed memory.
 */
const isHeaders = (value: object): value is Headers =>
  value.constructor?.name === 'Headers' && value instanceof Headers;

/**
 * Returns the relevant parts of an error; own fields of foreign errors (undici's `socket`, an HTTP
 * client's `config`) are included, redacted.
 */
function errorParts(error: Error): [string, unknown][] {
  const told = new Set(['name', 'message', 'stack', 'cause', 'errors']);
  const parts: [string, unknown][] = [
    ['name', error.name],
    ['message', error.message],
    ...Object.entries(error).filter(([key]) => !told.has(key)),
    ['cause', error.cause],
    ['errors', error instanceof AggregateError ? error.errors : undefined],
    ['stack', error.stack],
  ];
  return parts.filter(([, part]) => part !== undefined);
}

function copyEntries(entries: [string, unknown][], walk: Walk): Record<string, unknown> {
  // `{ name: 'authorization', value: '…' }`: the name of the secret is itself a value.
  const named = entries.some(
    ([key, part]) =>
      /^(name|key|header)$/i.test(key) && typeof part === 'string' && isSecretName(part),
  );
  const copied = bounded(entries, walk).map(([key, part]): [string, unknown] => [
    redactText(key),
    isHidden(key, part) || (named && /^value$/i.test(key)) ? hidden : copy(part, walk),
  ]);
  if (copied.length < entries.length) {
    copied.push(['…', `${entries.length - copied.length} more`]);
  }
  // Own properties even for a key such as `__proto__`.
  return Object.fromEntries(copied);
}

function copyList(items: unknown[], walk: Walk): unknown[] {
  // Raw headers come as `['authorization', '…', 'accept', '…']`.
  const copied = bounded(items, walk).map((item, at) => {
    const before = items[at - 1];
    return typeof item === 'string' &&
      typeof before === 'string' &&
      before.length < 64 &&
      isSecretName(before)
      ? hidden
      : copy(item, walk);
  });
  return copied.length < items.length
    ? [...copied, `… ${items.length - copied.length} more`]
    : copied;
}

function bounded<T>(parts: readonly T[], walk: Walk): readonly T[] {
  const taken = parts.slice(0, Math.max(0, Math.min(maxItems, walk.nodes.left)));
  walk.nodes.left -= taken.length;
  return taken;
}

function isHidden(key: string, value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean' || !isSecretName(key)) {
    return false;
  }
  return !(typeof value === 'number' && measureName.test(key));
}
