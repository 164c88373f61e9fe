const hidden = '[redacted]';

/** Names of options and variables whose value is a secret, however they are spelt; words are parted by blanks. */
const secretName =
  /passw(?:or)?d|passphrase|passcode|\bpass(?:in|out)?\b|pwd|secret|token|credential|cookie|authorization|\bauth\b|bearer|api ?key|(?:access|private|signing|encryption|master|shared|account|ssh|session|license) ?key|\bkey\b|\bpin\b|\botp\b/;

/** Named like a secret, yet only says where it lies, or what kind it is. */
const harmlessEnd = /\b(?:file|path|dir|folder|url|uri|name|type|mode|method|ttl|expiry|timeout|length|count|limit|algorithm|size|tokens)$/;

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

/** Secrets by their shape, wherever they stand in an argument. Every pattern is linear in the text. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [^-\n]{1,60}-----[\s\S]*?(?:-----END [^-\n]{1,60}-----|$)/g, hidden],
  [/\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:token|key|secret))(\s*:\s*)[^\r\n]+/gi, `$1$2${hidden}`],
  [/("[\w-]{0,60}(?:passw(?:or)?d|secret|token|api_?key|private_?key|credential)[\w-]{0,20}"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi, `$1"${hidden}"`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{4,}/gi, `$1 ${hidden}`],
  [/:\/\/[^\s/?#"'<>]*@/g, `://${hidden}@`],
  [/([?&;](?:[\w-]{0,40}(?:token|secret|passw(?:or)?d|pwd|api_?key)|key|sig|signature|code|auth)=)[^\s&;#"'<>]+/gi, `$1${hidden}`],
  // `host=db password=…`, as one argument.
  [/(\b[\w.-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key|access_?key|private_?key)=)[^\s&;,"'<>]+/gi, `$1${hidden}`],
  // What a shell was told to run, with all its arguments in one.
  [/(\s--?[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api-?key)\s+)['"]?[^\s'"]+/gi, `$1${hidden}`],
  [/(\s(?:-u|-U|--user|--proxy-user)[\s=]['"]?[^\s:'"]{1,100}:)[^\s'"]+/g, `$1${hidden}`],
  [/(\b(?:mysql|mariadb)[\w-]{0,20}\s(?:[^|;&]{0,200}\s)?-p)[^\s'"]+/g, `$1${hidden}`],
  [/\b(pass:)[^\s'"]+/g, `$1${hidden}`],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*){1,4}/g, hidden],
  [/\bsvc_(?:sk|pat)_[\w-]+/g, hidden],
  [/\b(?:sk-|gh[opsur]_|github_pat_|glpat-|xapp-|AIza)[\w-]{8,}/g, hidden],
  [/\bxox[a-z]-[\w-]+/g, hidden],
  [/\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g, hidden],
  [/\b(?:bot)?\d{8,12}:[\w-]{30,}/g, hidden],
];

/** Short options whose value is a secret, by program. */
const shortSecrets: ReadonlyMap<string, string> = new Map([
  ['sshpass', '-p'],
  ['redis-cli', '-a'],
  ['mongo', '-p'],
  ['mongosh', '-p'],
  ['mongodump', '-p'],
  ['mongorestore', '-p'],
  ['sqlcmd', '-P'],
  ['ldapsearch', '-w'],
  ['ldapadd', '-w'],
  ['ldapmodify', '-w'],
  ['ipmitool', '-P'],
]);
/** Those of MySQL take `-p` alone as a wish to be asked. */
const askedFor = /^(?:mysql|mariadb)[\w-]*$/;
/** Options that name a user and, behind a colon, a password. */
const userOption = /^(?:-u|-U|--user|--proxy-user|--auth|-a)$/;
const webClient = /^(?:curl|wget|http|https|xh)$/;

/** The arguments with their secrets hidden, before they leave this machine: by the name of an option, by the program, by shape. */
export function redactArguments(args: readonly string[]): string[] {
  const [first = '', ...rest] = args;
  const program = first.split('/').at(-1)!;
  const short = askedFor.test(program) ? '-p' : shortSecrets.get(program);
  const shown = args.length === 0 ? [] : [redactText(first)];
  let next: 'secret' | 'user' | undefined;
  for (const arg of rest) {
    const expected = next;
    next = undefined;
    if (expected === 'secret') {
      shown.push(hidden);
    } else if (expected === 'user') {
      shown.push(arg.includes(':') ? `${arg.slice(0, arg.indexOf(':'))}:${hidden}` : redactText(arg));
    } else if (short !== undefined && arg.startsWith(short) && arg.length > short.length) {
      shown.push(`${short}${hidden}`);
    } else if (assignment.test(arg) && isSecretName(arg.slice(0, arg.indexOf('=')))) {
      shown.push(`${arg.slice(0, arg.indexOf('='))}=${hidden}`);
    } else {
      next = expects(arg, program, short);
      shown.push(redactText(arg));
    }
  }
  return shown;
}

const assignment = /^-{0,2}[\w.-]+=/;
const option = /^--?[a-zA-Z][\w.-]*$/;

function expects(arg: string, program: string, short: string | undefined): 'secret' | 'user' | undefined {
  if (webClient.test(program) && userOption.test(arg)) {
    return 'user';
  }
  return (arg === short && !askedFor.test(program)) || (option.test(arg) && isSecretName(arg)) ? 'secret' : undefined;
}

/** Without what is a secret by its shape, wherever it came from. */
export const redactText = (text: string): string => shapes.reduce((safe, [shape, replacement]) => safe.replace(shape, replacement), text);

const [longestText, mostItems, deepest] = [300, 50, 6];

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
    return value.slice(0, mostItems).map((item) => redactValue(item, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostItems)
      .map(([name, item]) => [name.slice(0, longestText), isSecretName(name) && typeof item !== 'number' ? '[redacted]' : redactValue(item, depth + 1)]),
  );
}
