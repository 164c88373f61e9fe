import type { Mail } from 'svc/contracts/mail';

export interface Letter extends Mail {
  readonly from: string;
  readonly at: number;
}

/** A message as SMTP carries it: lines of ASCII that end in CR LF, none longer than 998 bytes. */
export function mailText({
  id,
  to,
  subject,
  text,
  html,
  picture,
  thread,
  from,
  at,
}: Letter): string {
  const domain = from.slice(from.indexOf('@') + 1);
  const own = `<${token(id)}@${domain}>`;
  const boundary = `=_svc_${token(id).slice(0, 40)}`;
  const heads = [
    `Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
    `From: svc <${from}>`,
    `To: ${to.join(', ')}`,
    `Subject: ${encodedWords(subject)}`,
    `Message-ID: ${own}`,
    ...(thread === undefined
      ? []
      : [`References: <${token(thread)}@${domain}>`, `In-Reply-To: <${token(thread)}@${domain}>`]),
    'MIME-Version: 1.0',
    // No automatic answer is wanted.
    'Auto-Submitted: auto-generated',
    'X-Auto-Response-Suppress: All',
  ];
  const rich =
    html === undefined || picture === undefined ? [] : related(html, { picture, id, domain });
  const body =
    html === undefined
      ? part('text/plain', text)
      : [
          ...[`Content-Type: multipart/alternative; boundary="${boundary}"`, '', `--${boundary}`],
          ...[
            ...part('text/plain', text),
            `--${boundary}`,
            ...(rich.length > 0 ? rich : part('text/html', html)),
            `--${boundary}--`,
            '',
          ],
        ];
  return [...heads, ...body].join('\r\n');
}

/** HTML with a picture that comes with it. */
function related(
  html: string,
  {
    picture,
    id,
    domain,
  }: { readonly picture: Uint8Array; readonly id: string; readonly domain: string },
): string[] {
  const inner = `=_svc_r_${token(id).slice(0, 40)}`;
  const name = `chart-${token(id)}@${domain}`;
  return [
    ...[`Content-Type: multipart/related; type="text/html"; boundary="${inner}"`, '', `--${inner}`],
    ...part('text/html', `${html}<p><img src="cid:${name}" alt="the last hour"></p>`),
    ...[
      `--${inner}`,
      'Content-Type: image/png',
      'Content-Transfer-Encoding: base64',
      `Content-ID: <${name}>`,
      'Content-Disposition: inline; filename="chart.png"',
    ],
    ...['', ...encoded(picture), `--${inner}--`],
  ];
}

const encoded = (bytes: Uint8Array): string[] =>
  Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,76}/g) ?? [''];

const part = (type: string, text: string): string[] => [
  `Content-Type: ${type}; charset=utf-8`,
  'Content-Transfer-Encoding: base64',
  '',
  ...encoded(Buffer.from(text.replaceAll(/\r?\n/g, '\r\n'), 'utf8')),
];

const longestSubject = 250;
/** Bytes of one encoded word, which has 75 characters at most. */
const wordBytes = 45;

/**
 * Encodes text that is not plain ASCII as encoded words, split between characters (RFC 2047); line
 * ends become spaces.
 */
export function encodedWords(text: string): string {
  const line = text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, longestSubject)
    .replaceAll(/\p{Cs}/gu, '');
  if (/^[ -~]*$/.test(line) && !line.includes('=?')) {
    return folded(line);
  }
  const words: string[] = [];
  let word = '';
  for (const character of line) {
    if (Buffer.byteLength(word + character) > wordBytes) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word]
    .map((one) => `=?utf-8?B?${Buffer.from(one, 'utf8').toString('base64')}?=`)
    .join('\r\n ');
}

/** Folds a line; continuation lines begin with a space. */
const folded = (line: string): string => line.replaceAll(/(.{50,70}) (?=.)/g, '$1\r\n ');

const token = (text: string): string => text.replaceAll(/[^\w.-]/g, '-').slice(0, 120);

/** Text as HTML: escaped, with these addresses as links. Others, which anybody may have written into a label, are words. */
export function htmlOf(text: string, links: readonly string[]): string {
  const known = new Set(links.filter((link) => /^https?:/.test(link)).map(escaped));
  const body = escaped(text).replaceAll(/https?:\/\/[^\s<>"']{1,2000}/g, (found) =>
    known.has(found) ? `<a href="${found}">${found}</a>` : found,
  );
  return `<div style="font-family:sans-serif;white-space:pre-wrap">${body}</div>`;
}

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
