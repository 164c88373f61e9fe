import type { PackFiles } from '../archive/entry-list.ts';
import {
  decodedStrings,
  foldedParagraphs,
  normalised,
  type Reading,
  unpackedBase64,
  unpackedGroups,
  withoutEntities,
} from './decoded.ts';
import { addressFindings } from './addresses.ts';
import { carriesData, embeds } from './embeds.ts';
import {
  collectsSecrets,
  filledAddress,
  type Finding,
  lineRules,
  sendsAway,
  sendsTo,
  type Severity,
} from './rules.ts';

export type Verdict = 'pass' | 'review' | 'block';

export interface ScanReport {
  readonly verdict: Verdict;
  /** The gravest first, one of a rule and file. */
  readonly findings: readonly Finding[];
  /** Hosts that its texts name. */
  readonly hosts: readonly string[];
  /** Files that a person could run. */
  readonly scripts: readonly string[];
}

const maxFindings = 200;
const maxHosts = 200;
const longestLine = 20_000;
/** Longer than what any rule looks at. */
const overlap = 1_000;
const maxHeaderLines = 500;
const ranks: readonly Severity[] = ['block', 'review', 'info'];

const programs: readonly (readonly [string, readonly number[]])[] = [
  ['a program of Linux', [0x7f, 0x45, 0x4c, 0x46]],
  ['a program of Windows', [0x4d, 0x5a]],
  ['a program of macOS', [0xcf, 0xfa, 0xed, 0xfe]],
  ['a program of macOS', [0xca, 0xfe, 0xba, 0xbe]],
  ['WebAssembly', [0x00, 0x61, 0x73, 0x6d]],
];
const archives: readonly (readonly [string, readonly number[]])[] = [
  ['a zip archive', [0x50, 0x4b, 0x03, 0x04]],
  ['a gzip archive', [0x1f, 0x8b]],
  ['a 7z archive', [0x37, 0x7a, 0xbc, 0xaf]],
  ['a rar archive', [0x52, 0x61, 0x72, 0x21]],
  ['an xz archive', [0xfd, 0x37, 0x7a, 0x58]],
  ['a bzip2 archive', [0x42, 0x5a, 0x68]],
];

/** Reads every file of a pack for what the known bad ones had; that nothing was found proves nothing. */
export function scan(files: PackFiles, declaredHosts: readonly string[] = []): ScanReport {
  const findings: Finding[] = [];
  const hosts = new Set<string>();
  const scripts: string[] = [];
  for (const [file, bytes] of files) {
    if (
      /\.(?:sh|bash|zsh|py|rb|pl|ps1|bat|cmd|js|mjs|cjs|ts|php|lua)$/i.test(file) ||
      (bytes[0] === 0x23 && bytes[1] === 0x21)
    ) {
      scripts.push(file);
    }
    findings.push(
      ...(isText(bytes)
        ? inText(file, Buffer.from(bytes).toString('utf8'), hosts)
        : inBinary(file, bytes)),
    );
  }
  findings.push(
    ...undeclared(files, declaredHosts, scripts),
    ...collectedAndSent(files, declaredHosts),
  );
  const sorted = findings
    .toSorted((a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity))
    .slice(0, maxFindings);
  const gravest = sorted[0]?.severity ?? 'info';
  return {
    verdict: gravest === 'info' ? 'pass' : gravest,
    findings: sorted,
    hosts: [...hosts].toSorted().slice(0, maxHosts),
    scripts,
  };
}

const isText = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_000).indexOf(0) === -1;

function inBinary(file: string, bytes: Uint8Array): Finding[] {
  const begins = ([, magic]: readonly [string, readonly number[]]): boolean =>
    magic.every((byte, index) => bytes[index] === byte);
  const [program] = programs.find(begins) ?? [];
  if (program !== undefined) {
    return [{ rule: 'program', severity: 'block', file, line: 0, message: `is ${program}` }];
  }
  const [archive] = archives.find(begins) ?? [];
  if (archive !== undefined) {
    return [
      {
        rule: 'archive-in-archive',
        severity: 'review',
        file,
        line: 0,
        message: `contains ${archive}, which was not scanned`,
      },
    ];
  }
  // A single zero does not make a text unreadable to shells and models.
  const told = new Told(file);
  for (const { line, number } of linesOf(Buffer.from(bytes).toString('utf8'))) {
    told.byRules(line, number);
  }
  if (file.endsWith('.md')) {
    told.add('hidden-text', 'block', 0, 'has zero bytes, which a text cannot have');
  }
  return told.findings();
}

function inText(file: string, text: string, hosts: Set<string>): Finding[] {
  const told = new Told(file);
  const headerEnd = file.endsWith('.json')
    ? Infinity
    : file.endsWith('.md')
      ? text.split('\n', maxHeaderLines).indexOf('---', 1) + 1
      : 0;
  for (const { line, number } of linesOf(text)) {
    told.byRules(line, number);
    const shown = withoutEntities(line);
    const plain = normalised(shown ?? line) ?? shown;
    if (plain !== undefined) {
      told.byRules(plain, number, ' (as it looks)');
    }
    hidden(number <= headerEnd ? unescaped(line) : line, (severity, message) =>
      told.add('hidden-text', severity, number, message),
    );
    for (const [, host] of line.matchAll(
      /\bhttps?:\/\/(?:[^\s/@"'<>]{1,100}@)?([a-z0-9.-]{1,200})/gi,
    )) {
      if (host !== undefined && hosts.size < maxHosts * 5) {
        hosts.add(host.toLowerCase().replace(/\.+$/, ''));
      }
    }
  }
  told.embedded(text, 0);
  for (const reading of foldedParagraphs(text)) {
    told.byRules(normalised(reading.text) ?? reading.text, reading.line, reading.how, true);
  }
  for (const reading of [
    ...decodedStrings(file, text),
    ...unpackedBase64(text),
    ...unpackedGroups(text),
  ]) {
    told.reading(reading);
  }
  return told.findings();
}

/** Findings in one file, the first of each kind. */
class Told {
  readonly #file: string;
  readonly #found = new Map<string, Finding>();

  constructor(file: string) {
    this.#file = file;
  }

  add(rule: string, severity: Severity, line: number, message: string): void {
    const key = `${rule} ${message}`;
    this.#found.set(
      key,
      this.#found.get(key) ?? { rule, severity, file: this.#file, line, message },
    );
  }

  byRules(line: string, number: number, how = '', onlyProse = false): void {
    for (const { rule, severity, form, message, isProse } of lineRules) {
      if (
        (isProse === true || !onlyProse) &&
        form.test(line) &&
        !this.#found.has(`${rule} ${message}`)
      ) {
        this.add(rule, severity, number, `${message}${how}`);
      }
    }
    for (const { rule, severity, message } of onlyProse ? [] : addressFindings(line)) {
      this.add(rule, severity, number, message);
    }
  }

  /** Scans the addresses that a text embeds or links to, as it is written and as it looks. */
  embedded(text: string, number: number, how = ''): void {
    const shown = withoutEntities(text) ?? text;
    for (const form of new Set([text, shown, normalised(shown) ?? shown])) {
      for (const { isLoaded, address, at } of embeds(form)) {
        const { rule, severity, message } = filledAddress[isLoaded ? 'loaded' : 'followed'];
        if (!this.#found.has(`${rule} ${message}`) && carriesData(address)) {
          const line = number === 0 ? form.slice(0, at).split('\n').length : number;
          this.add(rule, severity, line, `${message}${how}`);
        }
      }
    }
  }

  /** Scans a decoded form of the content. */
  reading({ text, line: number, how }: Reading): void {
    this.embedded(text, number, how);
    for (const { line } of linesOf(text)) {
      this.byRules(normalised(line) ?? line, number, how);
      hidden(line, (severity, message) => this.add('hidden-text', severity, number, message));
    }
    for (const { text: paragraph } of foldedParagraphs(text)) {
      this.byRules(normalised(paragraph) ?? paragraph, number, how, true);
    }
  }

  findings(): Finding[] {
    return [...this.#found.values()];
  }
}

/** Yields each line with its continuation; a very long one in overlapping pieces. */
function* linesOf(text: string): Generator<{ readonly line: string; readonly number: number }> {
  const lines = text.split('\n');
  for (const [index, whole] of lines.entries()) {
    // The map of a bundle has its sources, and nothing that runs.
    if (/^\/\/# sourceMappingURL=data:application\/json;base64,[A-Za-z0-9+/=]*\r?$/.test(whole)) {
      continue;
    }
    const goesOn = /[\\|]\s{0,8}$/.test(whole.slice(-10));
    const line = goesOn
      ? `${whole.replace(/\\\s{0,8}$/, ' ')}${(lines[index + 1] ?? '').slice(0, overlap)}`
      : whole;
    for (let at = 0; at === 0 || at < line.length - overlap; at += longestLine - overlap) {
      yield { line: line.slice(at, at + longestLine), number: index + 1 };
    }
  }
}

/** Unescapes a line as JSON and YAML do. */
const unescaped = (line: string): string =>
  line.includes('\\')
    ? line.replaceAll(
        /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))/g,
        (_all, ...[four, two, eight]: (string | undefined)[]) => {
          const code = Number.parseInt(four ?? two ?? eight ?? '', 16);
          return code > 0x10ffff
            ? ''
            : code > 0xffff
              ? String.fromCodePoint(code)
              : String.fromCharCode(code);
        },
      )
    : line;

/** Flags of England, Scotland and Wales: the only ones that consist of tags. */
const flags =
  /\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}/gu;

/** Signs that people do not see and models read. */
function hidden(line: string, tell: (severity: Severity, message: string) => void): void {
  if (!/[^\t\r -~]/.test(line)) {
    return;
  }
  if (/[\u{E0000}-\u{E007F}]/u.test(line.replaceAll(flags, ''))) {
    tell('block', 'has Unicode tags, a text that people cannot see');
  }
  // One selects how the character before it looks; several in a row encode something else.
  if (
    /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2}|(?<!\p{Script=Han})[\u{E0100}-\u{E01EF}]/u.test(line)
  ) {
    tell('block', 'has rows of variation selectors, a text that people cannot see');
  }
  if (/[\u202A-\u202E\u2066-\u2069]/.test(line)) {
    tell('block', 'turns the direction of its text: people and models read different texts');
  }
  // Between emoji a joiner is ordinary, and at the beginning of a file a mark of its encoding.
  if (
    /[\u200B\u2060-\u2064\u180E\u115F\u1160\u3164\uFFA0\u2800\uFFF9-\uFFFB]|\u034F|(?<!^)\uFEFF|(?<![\p{Emoji}\uFE0F\p{L}\p{M}])[\u200C\u200D]/u.test(
      line,
    )
  ) {
    tell('review', 'has signs without width');
  }
  if (line.includes('\u001B[') || line.includes('\u001B]')) {
    tell('review', 'has control sequences of terminals');
  }
}

/** Returns hosts in code that the pack does not declare, for review. */
function undeclared(
  files: PackFiles,
  declared: readonly string[],
  scripts: readonly string[],
): Finding[] {
  return scripts.flatMap((file) => {
    const named = new Set<string>();
    const bytes = files.get(file)!;
    if (isText(bytes)) {
      inText(file, Buffer.from(bytes).toString('utf8'), named);
    }
    const strange = [...named].filter((host) => !isOrdinary(host) && !isDeclared(host, declared));
    return strange.length === 0
      ? []
      : [
          {
            rule: 'undeclared-host',
            severity: 'review' as const,
            file,
            line: 0,
            message: `speaks of hosts that the pack does not declare: ${strange.slice(0, 5).join(', ')}`,
          },
        ];
  });
}

/** Returns the guides of which one has secrets collected and one, perhaps another, has something sent elsewhere. */
function collectedAndSent(files: PackFiles, declared: readonly string[]): Finding[] {
  let collector: string | undefined;
  let sender: { readonly file: string; readonly host: string } | undefined;
  for (const [file, bytes] of files) {
    if (!file.endsWith('.md') || !isText(bytes)) {
      continue;
    }
    const text = Buffer.from(bytes).toString('utf8');
    const lines = [...linesOf(text)].map(({ line }) => line);
    for (const line of [...lines, ...[...foldedParagraphs(text)].map((one) => one.text)]) {
      const shown = withoutEntities(line) ?? line;
      const plain = normalised(shown) ?? shown;
      if (collectsSecrets.test(plain)) {
        collector ??= file;
      }
      const [, named] = sendsTo.exec(plain) ?? sendsAway.exec(plain) ?? [];
      const host = named?.toLowerCase().replace(/\.+$/, '');
      if (host !== undefined && !isOrdinary(host) && !isDeclared(host, declared)) {
        sender ??= { file, host };
      }
    }
  }
  return collector === undefined || sender === undefined
    ? []
    : [
        {
          rule: 'collect-and-send',
          severity: 'review',
          file: sender.file,
          line: 0,
          message: `tells the agent to send data to ${sender.host}, and ${collector} tells it to collect secrets`,
        },
      ];
}

const isDeclared = (host: string, declared: readonly string[]): boolean =>
  declared.some((one) => host === one || host.endsWith(`.${one}`));

/** Names of examples and schemas, and this machine: they are not called. */
const isOrdinary = (host: string): boolean =>
  /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\d+\.\d+\.\d+\.\d+)$|(?:^|\.)(?:example\.(?:com|org|net)|w3\.org|json-schema\.org|schemas\.\w+\.\w+|invalid|test|local)$/.test(
    host,
  ) || !host.includes('.');
