import { isSecretName, redactCommandsIn, redactText } from 'svc/probe';

const hidden = '[redacted]';
const deepest = 40;

/** Escape sequences of terminals: operating system commands and their like, then control sequences, then the short ones. */
const escapes =
  // oxlint-disable-next-line no-control-regex -- these are what is taken out
  /[\u001b\u009d\u0090][\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;
/**
 * Matches control characters except tab and line feed; zero-width characters, changes of direction,
 * and invisible tags.
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- as above
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;
/** Keys of a row or a thing, such as rule_key, are no secrets; those that open something are. */
const plainKey =
  /^(?:(?!api|access|private|signing|encryption|master|shared|account|ssh|session|license|auth|secret)[a-z]+[_-])*key$/i;

/**
 * The one way by which results of tools reach people, models, the disk: plain data, in which secrets are hidden by name and
 * by shape, and no text holds what a terminal or a reader would not see. The fields that a schema tells of are no values.
 */
export function guarded(value: unknown, depth = 0, isFieldTable = false): unknown {
  switch (typeof value) {
    case 'string':
      return guardedText(value);
    case 'bigint':
      return String(value);
    case 'object':
      break;
    case 'function':
    case 'symbol':
      return null;
    default:
      return value;
  }
  if (value === null || depth > deepest) {
    return value === null ? null : '…';
  }
  if (ArrayBuffer.isView(value)) {
    return guarded([...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)], depth);
  }
  if (Array.isArray(value)) {
    return value.map((item) => guarded(item, depth + 1));
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return guarded(value.toJSON(), depth + 1);
  }
  const isSchema = (value as { type?: unknown }).type === 'object';
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      guardedText(name),
      isSecretField(name) && holdsValue(item) && !(isFieldTable && typeof item === 'object')
        ? hidden
        : guarded(item, depth + 1, isSchema && name === 'properties'),
    ]),
  );
}

/**
 * Returns the path of the first name or text that `guarded` would change, or undefined. People must
 * not sign a call of which they see a part only.
 */
export function hiddenPart(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') {
    return guardedText(value) === value ? undefined : path;
  }
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  for (const [name, item] of Object.entries(value)) {
    const place = path === '' ? visible(name) : `${path}.${visible(name)}`;
    const isHidden = guardedText(name) !== name || (isSecretField(name) && holdsValue(item));
    const found = isHidden ? place : hiddenPart(item, place);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

const holdsValue = (item: unknown): boolean =>
  item !== null && typeof item !== 'number' && typeof item !== 'boolean';

/**
 * Patterns of secrets in configurations and logs: `password: x`, `TOKEN = x`, `'secret' => 'x'`,
 * `<password>x<`, and password hashes.
 */
const written: readonly (readonly [RegExp, string])[] = [
  // In quotes, a secret may hold blanks.
  [
    /((?<![\w.-])\\?["']?[\w.-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|psk)\\?["']?\s{0,3}(?:=>|[:=])\s{0,3})(?:"(?!\[redacted)[^"\n]+"|'(?!\[redacted)[^'\n]+')/gi,
    `$1"${hidden}"`,
  ],
  // One value that several names get: `a_pwd = b_pwd = 'x'`. The working directory is no password.
  [
    /((?<![\w.-])\\?["']?[\w.-]{0,40}(?:passw(?:or)?d|pass word|passwort|kennwort|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key)\\?["']?\s{0,3}(?:=>|[:=]|%3d)\s{0,3}(?:[\w.]{1,60}(?:passw(?:or)?d|pwd|secret|token|key)\s{0,3}=\s{0,3}){0,3}\\?["']?)(?!\[redacted|(?<=\bPWD=)\/|<)[^\s"',;}\]]+/gi,
    `$1${hidden}`,
  ],
  // A sentence that says one. A word with a digit or a sign inside is none of the language.
  [
    /((?:\b(?:passw(?:or)?d|passphrase|passcode|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord|has[lł]o)|пароль|密码|密碼|パスワード)(?:\s(?:for|of|für|von|pour|de|para)\s[^\n:=]{1,40}?)?\s?(?:\s(?:is|was|ist|war|est|es|[eé])\s|[:：]\s?)["'`]?)(?=[^\s"'`]{0,60}[\d$_!#+%&*@^~-])(?!\[redacted)[^\s"'`,;]{6,}/giu,
    `$1${hidden}`,
  ],
  [/(<[\w:-]{0,40}(?:passw(?:or)?d|secret|token|api[_-]?key)>)[^<\s]+/gi, `$1${hidden}`],
  [/\$(?:1|2[aby]|5|6|y|apr1|argon2\w{1,2})\$[^\s:"']+/g, hidden],
  // `login ann password x` of a .netrc, `community x` of a switch, `["pass"]=> string(4) "x"` of PHP.
  [/(\blogin\s\S{1,100}\s+password\s+)(?!\[redacted)\S+/gi, `$1${hidden}`],
  [/(\bsnmp-server\s+community\s+|\brocommunity6?\s+|\brwcommunity6?\s+)\S+/gi, `$1${hidden}`],
  [
    /(\["[\w-]{0,40}(?:pass(?:w(?:or)?d)?|pwd|secret|token|key)"\]\s*=>\s*string\(\d+\)\s+)"[^\n]{0,400}?"(?=\s|$)/gi,
    `$1"${hidden}"`,
  ],
  [/(\bConvertTo-SecureString\s+(?:-String\s+)?)(?:"[^"]+"|'[^']+')/gi, `$1"${hidden}"`],
  [
    /((?:echo|printf)\s+["']?[^\s:"']{1,64}:)[^\s"']+(?=["']?\s*\|\s*(?:sudo\s+)?chpasswd)/g,
    `$1${hidden}`,
  ],
  [
    /(\b(?:licen[cs]e|product|activation|serial)\s+key\s*(?:is\s+|[:=]\s*)?)(?=[\w-]{0,30}-)[A-Z\d]{4,}(?:-[A-Z\d]{4,}){2,}/gi,
    `$1${hidden}`,
  ],
  [/(\bkeytab[\w.]{0,20}\s*[:=]\s*)[\w+/=]{40,}/gi, `$1${hidden}`],
];

/** Redacts a text; invisible characters are removed first, as they could split a secret. */
export const guardedText = (text: string): string =>
  written.reduce(
    (safe, [shape, replacement]) => safe.replace(shape, replacement),
    withoutSecretsOfCommands(redactText(visible(text))),
  );

/** A command has an argument, so a text of one word is none. */
const withoutSecretsOfCommands = (text: string): string =>
  /\s/.test(text) ? text.split('\n').map(redactCommandsIn).join('\n') : text;

export const visible = (text: string): string => text.replace(escapes, '').replace(unseen, '');

function isSecretField(name: string): boolean {
  const plain = visible(name);
  return isSecretName(plain) && !plainKey.test(plain);
}
