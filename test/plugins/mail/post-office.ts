import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

import { serverCert, serverKey } from '../metricsdb/certificates.ts';

export interface Taken {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

/** A real server: STARTTLS, and AUTH only behind it; it knows one user, and refuses who begins with "no". */
export async function postOffice(t: Pick<TestContext, 'after'>, more: SMTPServerOptions = {}) {
  const taken: Taken[] = [];
  const quirks: Error[] = [];
  const server = new SMTPServer({
    cert: serverCert,
    key: serverKey,
    authOptional: true,
    closeTimeout: 100,
    logger: false,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _, done) =>
      username === 'svc@example.org' && password === 'p4ss wörd'
        ? done(null, { user: username })
        : done(Object.assign(new Error('wrong'), { responseCode: 535 })),
    onRcptTo: ({ address }, _, done) =>
      done(
        address.startsWith('no')
          ? Object.assign(new Error('no such mailbox'), { responseCode: 550 })
          : null,
      ),
    onData(stream, { envelope, secure, user }, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const quirk = quirks.shift();
        if (quirk === undefined) {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          taken.push({
            from,
            to: envelope.rcptTo.map(({ address }) => address),
            text: Buffer.concat(parts).toString(),
            secure,
            user,
          });
        }
        done(quirk ?? null);
      });
    },
    ...more,
  });
  server.on('error', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => new Promise<void>((done) => server.close(done)));
  return { taken, quirks, port: (server.server.address() as AddressInfo).port };
}

/** Returns each part, decoded as a reader does. */
export const decoded = (text: string): string[] =>
  [...text.matchAll(/base64\r\n\r\n([\w+/=\r\n]+)/g)].map(([, body]) =>
    Buffer.from(body!, 'base64').toString(),
  );
