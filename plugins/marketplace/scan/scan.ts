import type { PackFiles } from '../archive/entry-list.ts';
import { type Finding, lineRules, type Severity } from './rules.ts';

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

const mostFindings = 200;
const mostHosts = 200;
const longestLine = 20_000;
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
    if (/\.(?:sh|bash|zsh|py|rb|pl|ps1|bat|cmd|js|mjs|cjs|ts|php|lua)$/i.test(file) || (bytes[0] === 0x23 && bytes[1] === 0x21)) {
      scripts.push(file);
    }
    findings.push(...(isText(bytes) ? inText(file, Buffer.from(bytes).toString('utf8'), hosts) : inBinary(file, bytes)));
  }
  findings.push(...undeclared(files, hosts, declaredHosts, scripts));
  const sorted = findings.toSorted((a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity)).slice(0, mostFindings);
  const gravest = sorted[0]?.severity ?? 'info';
  return { verdict: gravest === 'info' ? 'pass' : gravest, findings: sorted, hosts: [...hosts].toSorted().slice(0, mostHosts), scripts };
}

const isText = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_000).indexOf(0) === -1;

function inBinary(file: string, bytes: Uint8Array): Finding[] {
  const begins = ([, magic]: readonly [string, readonly number[]]): boolean => magic.every((byte, index) => bytes[index] === byte);
  const [program] = programs.find(begins) ?? [];
  if (program !== undefined) {
    return [{ rule: 'program', severity: 'block', file, line: 0, message: `is ${program}` }];
  }
  const [archive] = archives.find(begins) ?? [];
  return archive === undefined ? [] : [{ rule: 'archive-in-archive', severity: 'review', file, line: 0, message: `is ${archive}, which was not looked into` }];
}

function inText(file: string, text: string, hosts: Set<string>): Finding[] {
  const found = new Map<string, Finding>();
  const tell = (rule: string, severity: Severity, line: number, message: string): void => {
    const key = `${rule} ${message}`;
    found.set(key, found.get(key) ?? { rule, severity, file, line, message });
  };
  text.split('\n').forEach((whole, index) => {
    // What is longer is looked at in its beginning and its end.
    // The map of a bundle has its sources, and nothing that runs.
    const line = whole.startsWith('//# sourceMappingURL=data:application/json;base64,')
      ? ''
      : whole.length > longestLine
        ? `${whole.slice(0, longestLine / 2)} ${whole.slice(-longestLine / 2)}`
        : whole;
    for (const { rule, severity, form, message } of lineRules) {
      if (form.test(line)) {
        tell(rule, severity, index + 1, message);
      }
    }
    hidden(line, (severity, message) => tell('hidden-text', severity, index + 1, message));
    for (const [, host] of line.matchAll(/\bhttps?:\/\/(?:[^\s/@"'<>]{1,100}@)?([a-z0-9.-]{1,200})/gi)) {
      if (host !== undefined && hosts.size < mostHosts * 5) {
        hosts.add(host.toLowerCase().replace(/\.+$/, ''));
      }
    }
  });
  return [...found.values()];
}

/** Signs that people do not see and models read. */
function hidden(line: string, tell: (severity: Severity, message: string) => void): void {
  if (!/[^\t\r -~]/.test(line)) {
    return;
  }
  if (/[\u{E0000}-\u{E007F}]/u.test(line.replaceAll(/\u{1F3F4}[\u{E0020}-\u{E007F}]{1,8}/gu, ''))) {
    tell('block', 'has Unicode tags, a text that people cannot see');
  }
  if (/[\u202A-\u202E\u2066-\u2069]/.test(line)) {
    tell('block', 'turns the direction of its text: people and models read different texts');
  }
  // Between emoji a joiner is ordinary, and at the beginning of a file a mark of its encoding.
  if (/[\u200B\u2060\u180E]|(?<!^)\uFEFF|(?<![\p{Emoji}\uFE0F\p{L}])[\u200C\u200D]/u.test(line)) {
    tell('review', 'has signs without width');
  }
  if (line.includes('\u001B[') || line.includes('\u001B]')) {
    tell('review', 'has control sequences of terminals');
  }
}

/** Code may speak of hosts; those that the pack does not declare are to be looked at. */
function undeclared(files: PackFiles, _all: ReadonlySet<string>, declared: readonly string[], scripts: readonly string[]): Finding[] {
  return scripts.flatMap((file) => {
    const named = new Set<string>();
    const bytes = files.get(file)!;
    if (isText(bytes)) {
      inText(file, Buffer.from(bytes).toString('utf8'), named);
    }
    const strange = [...named].filter((host) => !isOrdinary(host) && !declared.some((one) => host === one || host.endsWith(`.${one}`)));
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

/** Names of examples and schemas, and this machine: they are not called. */
const isOrdinary = (host: string): boolean =>
  /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\d+\.\d+\.\d+\.\d+)$|(?:^|\.)(?:example\.(?:com|org|net)|w3\.org|json-schema\.org|schemas\.\w+\.\w+|invalid|test|local)$/.test(
    host,
  ) || !host.includes('.');
