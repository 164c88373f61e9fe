import type { Severity } from './rules.ts';

/** Fault of an address in a text. */
export interface AddressFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
}

/** Addresses and names by which machines in a cloud get their credentials, as a parser of addresses spells them. */
const metadataHosts: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  'metadata',
  'metadata.google.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

const metadataName = /\bmetadata\.(?:google\.internal|azure\.internal|tencentyun\.com)\b/i;

const address =
  /\bhttps?:\/\/(?:[^\s/@"'<>]{1,100}@)?(\[[0-9a-f:.%]{2,60}\]|[^\s/?#"'<>`)\]\\]{1,200})/gi;
/** What may be an address without http:// before it: numbers of any base with dots, one large number, an address of IPv6. */
const bareNumbers =
  /(?<![\w.:-])(?:(?:0x[0-9a-f]{1,8}|\d{1,12})(?:\.(?:0x[0-9a-f]{1,8}|\d{1,12})){1,3}|0x[0-9a-f]{7,16}|\d{9,12})(?![\w-]|\.\w)/gi;
const bareSix =
  /(?<![\w.:])(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})(?![\w:])/gi;
/** Services whose names are addresses: `10.0.0.1.nip.io`, `a9fea9fe.nip.io`, or one name that changes its address. */
const nameOfNumbers =
  /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|nip\.direct|traefik\.me|backname\.io|1u\.ms|rbndr\.us|lvh\.me|localtest\.me|vcap\.me|lacolhost\.com)$/;
const namedNumbers = /(?<![\d.-])(\d{1,3}(?:[.-]\d{1,3}){3}|[0-9a-f]{8})\.[a-z]/;
const asFourNumbers = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** A dot in brackets, or by its name, as in 10[.]0(dot)0.1: whoever reads it puts the address together. */
const writtenDot = /\s{0,2}(?:[[({]\s{0,2}(?:\.|dot)\s{0,2}[\])}]|\sdot\s)\s{0,2}/gi;

/** Returns a line as its reader puts numbers together: without marks of style and blanks around their dots. */
const joined = (line: string): string =>
  line
    .replaceAll(/[*_`"']/g, '')
    .replaceAll(writtenDot, '.')
    .replaceAll(/(?<=[\da-f]) {0,2}\. {0,2}(?=[\da-f])/gi, '.');

/** Returns what is wrong with the addresses of a line, in whatever notation a client would take. */
export function addressFindings(line: string): readonly AddressFinding[] {
  const found: AddressFinding[] = metadataName.test(line) ? [metadata] : [];
  for (const [, written = ''] of line.matchAll(address)) {
    const host = hostOf(written);
    if (host === undefined) {
      continue;
    }
    if (isMetadata(host)) {
      found.push(metadata);
    }
    if (nameOfNumbers.test(host)) {
      found.push(isMetadata(addressNamed(host) ?? '') ? metadata : wildcard);
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
  const bare = [
    ...[...new Set([line, joined(line)])].flatMap((form) =>
      [...form.matchAll(bareNumbers)].map(([text]) => text),
    ),
    ...[...line.matchAll(bareSix)].map(([text]) => `[${text}]`),
  ];
  if (bare.some((text) => isMetadata(hostOf(text) ?? ''))) {
    found.push(metadata);
  }
  return found;
}

const isMetadata = (host: string): boolean =>
  metadataHosts.has(host) || metadataHosts.has(fourIn(host) ?? '');

/** Returns the address of IPv4 within one of IPv6: mapped, translated (NAT64, SIIT), compatible, or of 6to4. */
function fourIn(host: string): string | undefined {
  const [, high, low] =
    /^\[(?:::ffff:(?:0:)?|64:ff9b::|::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ??
    /^\[2002:([0-9a-f]{1,4}):([0-9a-f]{1,4}):/.exec(host) ??
    [];
  return high === undefined
    ? undefined
    : [high, low!]
        .map((part) => Number.parseInt(part, 16))
        .flatMap((part) => [part >> 8, part & 255])
        .join('.');
}

/** Returns the address that a name consists of. */
function addressNamed(host: string): string | undefined {
  const numbers = namedNumbers.exec(host)?.[1];
  return numbers === undefined
    ? undefined
    : hostOf(/[.-]/.test(numbers) ? numbers.replaceAll('-', '.') : `0x${numbers}`);
}

const wildcard: AddressFinding = {
  rule: 'disguised-address',
  severity: 'review',
  message: 'names a host of a service whose names lead to any address, also in this network',
};

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
