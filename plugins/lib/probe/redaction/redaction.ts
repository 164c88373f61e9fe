export const hidden = '[redacted]';

/** Names of options and variables whose value is a secret, however they are spelt; words are parted by blanks. */
const secretName =
  /passw(?:or)?d|passphrase|passcode|\bpass(?:in|out)\b|(?<!by|com|sur|tres)pass\b|pwd|\bpw\b|\bpsk\b|secret|token|credential|cookie|authorization|\bauth\b|bearer|api ?key|(?:access|private|signing|encryption|master|shared|account|ssh|session|license|auth) ?key|\bkey\b|\bpin\b|\botp\b|requirepass|masterauth|sonar login/;

/** Matches names like those of secrets that only state a location or a kind. */
const harmlessEnd =
  /\b(?:file|path|dir|folder|url|uri|name|type|mode|method|ttl|expiry|timeout|length|count|limit|algorithm|size|tokens|authentication|through|ca cert hash)$/;

/** `--apiKey` and `API_KEY` are `api key`. */
const words = (name: string): string =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[-._]+/g, ' ')
    .trim();

export function isSecretName(name: string): boolean {
  const plain = words(name.slice(0, 200));
  return secretName.test(plain) && !harmlessEnd.test(plain);
}

/** Patterns of secrets by shape, anywhere in an argument. Every pattern is linear in the text. */
const shapes: readonly (readonly [RegExp, string])[] = [
  // A certificate and a public key are for everybody.
  [
    /-----BEGIN (?!CERTIFICATE|PUBLIC KEY|X509 CRL)[^-\n]{1,60}-----[\s\S]*?(?:-----END [^-\n]{1,60}-----|$)/g,
    hidden,
  ],
  [
    /(?:\b|(?<=-H|\\[nrt]))((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:token|key|secret)|(?:private|job|deploy|auth|access|api)-?(?:token|key))(\s*:\s*)[^\r\n]+/gi,
    `$1$2${hidden}`,
  ],
  [
    /("[\w-]{0,60}(?:passw(?:or)?d|secret|token|api_?key|private_?key|credential)[\w-]{0,20}"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi,
    `$1"${hidden}"`,
  ],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{4,}/gi, `$1 ${hidden}`],
  // Over HTTP, a name alone may be a token.
  [/(?<=\bhttps?):\/\/[^\s/?#"'<>]*@|:\/\/[^\s/?#"'<>:]*:[^\s/?#"'<>]*@/g, `://${hidden}@`],
  [/(%3A%2F%2F[^\s%"'<>]{1,64}%3A)[^\s"'<>/?#]{1,200}?(?=%40)/gi, `$1${hidden}`],
  [
    /([?&;](?:[\w-]{0,40}(?:token|secret|passw(?:or)?d|pwd|api_?key|[_-]key|-signature)|key|sig|signature|code|auth)=)[^\s&;#"'<>]+/gi,
    `$1${hidden}`,
  ],
  // `host=db password=…`, as one argument.
  [
    /(\b[\w.-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key|access_?key|account_?key|private_?key)=)(?!(?<=\bPWD=)\/|\$\{|\$\()[^\s&;,"'<>]+/gi,
    `$1${hidden}`,
  ],
  [
    /((?:^|[^a-z\d]|smb|db|user|admin|root|ftp|http|store|key|ssh)pass=)[^\s&;,"'<>]+/gi,
    `$1${hidden}`,
  ],
  // Passwords in SQL statements about accounts.
  [
    /\b((?:identified\s+(?:with\s+\w+\s+)?by|password|pragma\s+key)(?:\s*[=:]\s*|\s+)['"])[^'"]+/gi,
    `$1${hidden}`,
  ],
  // `ann:password@host`, as one argument; not an image with its digest.
  [/((?:^|=)[^\s:@/=]{1,64}:)[^\s@/]{1,128}@(?!sha\d)/g, `$1${hidden}@`],
  [/\b(pass:)[^\s'"]+/g, `$1${hidden}`],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*){1,4}/g, hidden],
  [/\bsvc_(?:sk|pat|op|setup|enrol)_[\w-]+/g, hidden],
  [/\b(?:sk-|sk_live_|sk_test_|gh[opsur]_|github_pat_|glpat-|xapp-|AIza)[\w-]{8,}/g, hidden],
  [/\b(?:hv[sbr]\.|tskey-|npm_|pypi-|SWMTKN-|dop_v1_|dckr_pat_)[\w-]{6,}/g, hidden],
  [/\bxox[a-z]-[\w-]+/g, hidden],
  [/\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g, hidden],
  [/\b(?:bot)?\d{8,12}:[\w-]{30,}/g, hidden],
  // Addresses that let anyone who knows them post: only their last part is secret.
  [/(\/services\/T\w{6,20}\/B\w{6,20}\/)\w{16,}/g, `$1${hidden}`],
  [/(\/api\/webhooks\/\d{15,22}\/)[\w-]{30,}/g, `$1${hidden}`],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/g, hidden],
  [/\b(?:glsa_\w{20,}|glc_[\w=+/-]{20,}|eyJrIjoi[\w=+/-]{20,})/g, hidden],
  [/\bya29\.[\w-]{20,}|\bEAA[A-Za-z\d]{60,}/g, hidden],
  [/\b(AUTH (?:PLAIN|LOGIN) )[\w+/=]{8,}/gi, `$1${hidden}`],
  [/\b((?:requirepass|masterauth)\s+)["']?[^\s"']+/gi, `$1${hidden}`],
];

/** Secrets of commands, in a text that cannot be taken apart into its arguments. */
const commands: readonly (readonly [RegExp, string])[] = [
  [
    /(\s--?[\w.-]{0,40}(?:passw(?:or)?d|passphrase|[.-]pass|requirepass|storepass|secret|token|api-?key)\s+)['"]?[^\s'"]+/gi,
    `$1${hidden}`,
  ],
  [
    /(\s(?:-u|-U|--user|--proxy-user)[\s=]['"]?[^\s:'"]{1,100}:)(?!\d{1,6}(?:\s|$))[^\s'"]+/g,
    `$1${hidden}`,
  ],
  [/(\b(?:mysql|mariadb)[\w-]{0,20}\s(?:[^|;&]{0,200}\s)?-p)[^\s'"]+/g, `$1${hidden}`],
  [
    /(\b(?:az|docker|podman|oc|helm registry)\s+login\s(?:[^|;&]{0,200}\s)?-p\s+)[^\s'"]+/g,
    `$1${hidden}`,
  ],
];

/** No shape fits a text without one of these; most arguments are such. */
const mayHaveShape =
  /[:=\s"@]|eyJ|svc_|sk[-_]|gh[opsur]_|github_pat|glpat|xapp|xox|AIza|AKIA|ASIA|hv[sbr]\.|tskey-|npm_|pypi-|SWMTKN|dop_v1|dckr_pat|-----BEGIN|SG\.|gl(?:sa|c)_|ya29\.|EAA|\/services\/|\/webhooks\//;

const replaced = (text: string, patterns: typeof shapes): string =>
  patterns.reduce((safe, [shape, replacement]) => safe.replace(shape, replacement), text);

/** Redacts secrets that are recognized by their shape alone. */
export const redactShapes = (text: string): string =>
  mayHaveShape.test(text) ? replaced(text, shapes) : text;

/** Redacts secrets by shape, or as an argument of a command, wherever the text came from. */
export const redactText = (text: string): string =>
  mayHaveShape.test(text) ? replaced(replaced(text, shapes), commands) : text;

const [longestText, maxItems, deepest] = [300, 50, 6];

/** Plain JSON as it may be kept in a log: secrets hidden by name and by shape, bounded in every direction. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return redactText(value.length > longestText ? `${value.slice(0, longestText)}…` : value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= deepest) {
    return '…';
  }
  if (Array.isArray(value)) {
    return value.slice(0, maxItems).map((item) => redactValue(item, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxItems)
      .map(([name, item]) => [
        name.slice(0, longestText),
        isSecretName(name) && typeof item !== 'number' ? hidden : redactValue(item, depth + 1),
      ]),
  );
}
