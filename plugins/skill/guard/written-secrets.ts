/** Takes the place of a secret. */
export const hidden = '[redacted]';

/**
 * Patterns of secrets as people and programs write them into configurations, logs and messages, in the languages of operators,
 * with what takes their place. Each is linear in the text. What begins like a variable, a placeholder or an answer such as
 * `YES` is no secret, nor is the working directory (`PWD=/`), nor the name of a secret at Amazon.
 */
export const writtenSecrets: readonly (readonly [RegExp, string])[] = [
  // In quotes, a secret may hold blanks: `password = "a b"`, also as bytes of Python.
  [
    /((?<![\w.-])(?<!\barn:[\w:-]{1,80})\\?["']?[\w.-]{0,40}(?:passw(?:or)?d|pass word|passwort|kennwort|passphrase|pwd|(?<![a-z])(?:pass|pw|pin)|secret|token|(?:api|access|account|private|secret|signing|shared|encryption)[_-]?key|psk)\\?["']?\s{0,3}(?:=>|[:=])\s{0,3}b?)(?:"(?!\[redacted|(?:yes|no|true|false|null|none|secret)\b|\$\{|\$\(|\{\{|<|\*{3}|(?<=\bPWD=)\/)[^"\n]+"|'(?!\[redacted|(?:yes|no|true|false|null|none|secret)\b|\$\{|\$\(|\{\{|<|\*{3}|(?<=\bPWD=)\/)[^'\n]+')/gi,
    `$1"${hidden}"`,
  ],
  // `password: x`, `TOKEN = x`, `'secret' => 'x'`; one value may have several names: `a_pwd = b_pwd = 'x'`.
  [
    /((?<![\w.-])(?<!\barn:[\w:-]{1,80})\\?["']?[\w.-]{0,40}(?:passw(?:or)?d|pass word|passwort|kennwort|passphrase|pwd|(?<![a-z])(?:pass|pw|pin)|secret|token|(?:api|access|account|private|secret|signing|shared|encryption)[_-]?key)\\?["']?\s{0,3}(?:=>|[:=]|%3d)\s{0,3}(?:[\w.]{1,60}(?:passw(?:or)?d|pwd|secret|token|key)\s{0,3}=\s{0,3}){0,3}\\?["']?)(?!\[redacted|(?:yes|no|true|false|null|none|secret)\b|\$\{|\$\(|\{\{|<|\*{3}|(?<=\bPWD=)\/)[^\s"',;}\]]+/gi,
    `$1${hidden}`,
  ],
  // A sentence that says one. A word with a digit or a sign inside is none of the language.
  [
    /((?:\b(?:passw(?:or)?d|passphrase|passcode|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord|has[lł]o)|пароль|密码|密碼|パスワード)(?:(?:\s[^\n:=.,;]{1,40}?)?\s(?:is|was|ist|war|est|es|[eé])\s|\s?[:：]\s?)["'\x60]?)(?=[^\s"'\x60]{0,60}[\d$_!#+%&*@^~-])(?!\[redacted|(?:yes|no|true|false|null|none|secret)\b|\$\{|\$\(|\{\{|<|\*{3}|(?<=\bPWD=)\/)[^\s"'\x60,;]{6,}/giu,
    `$1${hidden}`,
  ],
  [
    /((?:\b(?:passw(?:or)?d|passphrase|passcode|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord|has[lł]o)|пароль|密码|密碼|パスワード)(?:\s[^\n:=.,;]{1,40}?)?\s?(?:est|:)\s?)«[^»\n]{1,80}»/giu,
    `$1« ${hidden} »`,
  ],
  [
    /(\b(?:verification|security|login|one-time|confirmation) code(?: is|:)? )\d[\d -]{3,9}\d/gi,
    `$1${hidden}`,
  ],
  [
    /(<[\w:-]{0,40}(?:passw(?:or)?d|pass word|passwort|kennwort|passphrase|pwd|(?<![a-z])(?:pass|pw|pin)|secret|token|(?:api|access|account|private|secret|signing|shared|encryption)[_-]?key)>)[^<\s]+/gi,
    `$1${hidden}`,
  ],
  [/("AUTH" (?:"[^"\n]{1,64}" )?)"[^"\n]+"/g, `$1"${hidden}"`],
  [/(\bhtpasswd\s+-\w*b\w*\s+\S{1,200}\s+\S{1,64}\s+)[^\s"']+/g, `$1${hidden}`],
  // Hashes of passwords, and what routers write in their place.
  [/\$(?:1|2[aby]|5|6|8|9|y|apr1|argon2\w{1,2})\$[^\s:"']+/g, hidden],
  [/(\b(?:password|secret|key)\s+[5789]\s+)[\w$./]{8,}/gi, `$1${hidden}`],
  [/(\bsnmp-server\s+community\s+|\br[ow]community6?\s+)\S+/gi, `$1${hidden}`],
  // `.netrc` and `.pgpass`.
  [/(\blogin\s\S{1,100}\s+password\s+)(?!\[redacted)\S+/gi, `$1${hidden}`],
  [/((?:^|\s)[\w.*-]{1,100}:(?:5432|\*):[\w*-]{1,63}:[\w*-]{1,63}:)\S+/g, `$1${hidden}`],
  [/(\bauth"?\s*:\s*")[\w+/]{16,}={0,2}(?=")/g, `$1${hidden}`],
  // `["pass"]=> string(4) "x"` of PHP.
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
