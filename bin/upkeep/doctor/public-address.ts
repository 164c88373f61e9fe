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
    'look at the clock of this machine, or renew the certificate of the proxy',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate is for another name',
    'have one made for this name, or correct http.public_url',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'its certificate comes without the one that signed it',
    'let the proxy send the whole chain (fullchain.pem)',
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'the authority of its certificate is not known here',
    'give agents that authority (svc edge install --ca), and this one by NODE_EXTRA_CA_CERTS',
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'its certificate is signed by itself',
    'give it to agents (svc edge install --ca) and browsers, or have one made by an authority',
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'the authority of its certificate is not known here',
    'give agents that authority (svc edge install --ca), and this one by NODE_EXTRA_CA_CERTS',
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
        `${url} cannot be reached from here: ${streamed}`,
        'look whether the proxy runs and the name leads to it, or correct http.public_url',
      );
    }
    if (streamed.status !== 200) {
      return fail(
        subject,
        `${url} does not lead to this svc: it answered ${streamed.status}`,
        'let the proxy pass every path of that address on to http.addr, or correct http.public_url',
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
          `${url} is without TLS: passwords can be read on the way`,
          'let the proxy serve https, and set http.public_url to that',
        );
  }
  if (doubt === undefined) {
    return ok(subject, `${url} leads here, with a certificate that is believed`);
  }
  const [what, fix] = doubts[doubt] ?? [
    `its certificate is not believed (${doubt})`,
    'have one made by an authority that your machines know',
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
      'a stream breaks off on its way',
      'let the proxy keep an answer open that takes minutes (proxy_read_timeout), and change nothing in it',
    );
  }
  return apart >= togetherMs
    ? ok(subject, 'come as they are sent')
    : fail(
        subject,
        'a proxy holds streams back until they end: chat and live pages stand still',
        'nginx: "proxy_buffering off;" and no "proxy_ignore_headers X-Accel-Buffering"; others: switch buffering and compression of text/event-stream off',
      );
}

function sockets(subject: string, url: string): Promise<Finding> {
  const broken = (why: string): Finding =>
    fail(
      subject,
      `a WebSocket does not get through (${why}): agents, shells and live logs cannot connect`,
      'nginx: "proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;" as config/nginx.conf has it',
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
    socket.once('open', () => socket.send('there and back'));
    socket.once('message', (data: Buffer) =>
      settle(
        data.toString() === 'there and back'
          ? ok(subject, 'get through')
          : broken('what comes back is not what was sent'),
      ),
    );
    socket.once('close', () => settle(broken('it was closed')));
    socket.once('error', (error) => settle(broken(messageOf(error))));
  });
}
