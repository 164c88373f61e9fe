import type { Severity } from './rules.ts';

/** What is wrong with an address in a text. */
export interface AddressFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
}

/** Hosts by which machines in a cloud get their credentials, as a parser of addresses spells them. */
const metadataHosts: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  'metadata',
  'metadata.google.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

const metadataName =
  /\bmetadata\.(?:google\.internal|azure\.internal|tencentyun\.com)\b|\b169\.254\.169\.254\b|\b169\.254\.170\.23?\b|\b100\.100\.100\.200\b|\bfd00:ec2::254\b|\b::ffff:(?:a9fe:a9fe|169\.254\.169\.254)\b|\b0xa9fea9fe\b|\b2852039166\b/i;

const address =
  /\bhttps?:\/\/(?:[^\s/@"'<>]{1,100}@)?(\[[0-9a-f:.%]{2,60}\]|[^\s/?#"'<>`)\]\\]{1,200})/gi;
const asFourNumbers = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Returns what is wrong with the addresses of a line, in whatever notation a client would take. */
export function addressFindings(line: string): readonly AddressFinding[] {
  const found: AddressFinding[] = metadataName.test(line) ? [metadata] : [];
  for (const [, written = ''] of line.matchAll(address)) {
    const host = hostOf(written);
    if (host === undefined) {
      continue;
    }
    if (metadataHosts.has(host)) {
      found.push(metadata);
    }
    const plain = written.replace(/:\d{1,5}$/, '');
    if (asFourNumbers.test(host) && plain !== host) {
      found.push({
        rule: 'disguised-address',
        severity: 'block',
        message: `writes the address ${host} in a form that people do not recognise`,
      });
    }
  }
  return found;
}

const metadata: AddressFinding = {
  rule: 'metadata-address',
  severity: 'review',
  message: 'names the metadata address of cloud machines, which gives out their credentials',
};

/** The host as a client would call it: of numbers in any base, in percent signs, or in wide letters. */
function hostOf(written: string): string | undefined {
  const url = `http://${written}/`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : undefined;
}
