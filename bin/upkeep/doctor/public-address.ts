import { WebSocket } from 'ws';

import { messageOf } from '../../../core/sdk/index.ts';
import { answerOf } from './asked.ts';
import { type Examination, fail, type Finding, notTried, ok, warn } from './finding.ts';

const withinMs = 10_000;
/** Words come 400 ms apart. */
const togetherMs = 300;

/** Errors of certificate checks, with the remedy. */
const doubts: Readonly<Record<string, readonly [what: string, fix: string]>> = {
  CERT_HAS_EXPIRED: ['its certificate has expired', 'renew the certificate of the proxy'],
  CERT_NOT_YET_VALID: [
    'its certificate is not valid yet',
    'check the clock of this machine, or renew the certificate of the proxy',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate is for another name',
    'get a certificate for this name, or correct http.public_url',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'its certificate chain is incomplete',
    'let the proxy send the whole chain (fullchain.pem)',
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'this machine does not know the authority of its certificate',
    "give the authority's file to agents (svc edge install --ca), and to this machine with NODE_EXTRA_CA_CERTS",
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'its certificate is self-signed',
    'give it to agents (svc edge install --ca) and browsers, or get a certificate from an authority',
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'this machine does not know the authority of its certificate',
    "give the authority's file to agents (svc edge install --ca), and to this machine with NODE_EXTRA_CA_CERTS",
  ],
};

/**
 * The way that people and agents come: whether the address leads here, by a certificate that is believed, through proxies that let sockets and
 * streams pass. No token is sent there: a probe of a minute opens an echo.
 */
export const publicAddress =
  (openProbe: (() => Promise<string>) | undefined, url: string): Examination =>
  async (subject) => {
    if (openProbe === undefined) {
      return notTried(subject, 'svc is not running');
    }
    const path = `${url}/api/v1/doctor/probes/${await openProbe()}`;
    const streamed = await answerOf(`${path}/stream`).catch((error: unknown) => messageOf(error));
    if (typeof streamed === 'string') {
      return fail(
        subject,
        `${url} cannot be reached from this machine: ${streamed}`,
        'check that the proxy runs and the name resolves to it, or correct http.public_url',
      );
    }
    if (streamed.status !== 200) {
      return fail(
        subject,
        `${url} does not lead to this svc: it answered ${streamed.status}`,
        'let the proxy forward every path of that address to http.addr, or correct http.public_url',
      );
    }
    return [
      certificateOf(`${subject}: certificate`, url, streamed.doubt),
      streams(`${subject}: streams`, streamed.pieces),
      await sockets(`${subject}: sockets`, `${path}/socket`),
    ];
  };

function certificateOf(subject: string, url: string, doubt: string | undefined): Finding {
  if (url.startsWith('http:')) {
    return /^http:\/\/(127\.|localhost|\[::1\])/.test(url)
      ? ok(subject, `${url} leads here`)
      : warn(
          subject,
          `${url} does not use TLS: passwords can be read in transit`,
          'let the proxy serve https, and set http.public_url to the https address',
        );
  }
  if (doubt === undefined) {
    return ok(subject, `${url} leads here, with a trusted certificate`);
  }
  const [what, fix] = doubts[doubt] ?? [
    `its certificate is not trusted (${doubt})`,
    'get a certificate from an authority that your machines trust',
  ];
  return fail(subject, `${url}: ${what}`, fix);
}

/** Three words that are said one after another, and come together where a proxy gathers them. */
function streams(
  subject: string,
  pieces: readonly { readonly atMs: number; readonly text: string }[],
): Finding {
  const at = (word: string): number =>
    pieces.find(({ text }) => text.includes(`data: ${word}\n`))?.atMs ?? Number.NaN;
  const apart = at('three') - at('one');
  if (Number.isNaN(apart)) {
    return fail(
      subject,
      'a stream is cut off on its way',
      'let the proxy keep responses open for minutes (proxy_read_timeout), and pass them on unchanged',
    );
  }
  return apart >= togetherMs
    ? ok(subject, 'arrive as they are sent')
    : fail(
        subject,
        'a proxy buffers streams until they end: chat and live pages do not update',
        'nginx: "proxy_buffering off;" and no "proxy_ignore_headers X-Accel-Buffering"; other proxies: turn off buffering and compression of text/event-stream',
      );
}

function sockets(subject: string, url: string): Promise<Finding> {
  const broken = (why: string): Finding =>
    fail(
      subject,
      `WebSocket connections fail (${why}): agents, shells and live logs cannot connect`,
      'nginx: "proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;" as in config/nginx.conf',
    );
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), {
      rejectUnauthorized: false,
      handshakeTimeout: withinMs,
    });
    const late = setTimeout(() => settle(broken('no answer')), withinMs);
    const settle = (finding: Finding): void => {
      clearTimeout(late);
      socket.terminate();
      resolve(finding);
    };
    socket.once('open', () => socket.send('echo received'));
    socket.once('message', (data: Buffer) =>
      settle(
        data.toString() === 'echo received'
          ? ok(subject, 'work')
          : broken('the echo differs from what was sent'),
      ),
    );
    socket.once('close', () => settle(broken('the connection was closed')));
    socket.once('error', (error) => settle(broken(messageOf(error))));
  });
}
