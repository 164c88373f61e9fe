import { type ConnectionOutcome, failureOf } from 'svc/connection';
import type { Mail, MailSender, MailSent } from 'svc/contracts/mail';
import { type Clock, isSvcError, messageOf, type Settings, type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { mailText } from './mail-text.ts';
import { SmtpRefusal, type SmtpServer, SmtpSession } from './smtp.ts';

export interface MailerParts {
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly addressOf: (host: string) => Promise<string>;
  /** Ends with the plugin. */
  readonly ended: AbortSignal;
  readonly name: string;
}

export const addressForm =
  /^[^\s<>@",;:\\()[\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

const smtp = {
  name: 'SMTP',
  tlsRemedy:
    'set mail.ca to the CA of its certificate, or mail.security to the protocol of that port',
};

/** Sends by the server of the settings, one conversation for each message. */
export class Mailer implements MailSender {
  readonly #parts: MailerParts;

  constructor(parts: MailerParts) {
    this.#parts = parts;
  }

  get isSet(): boolean {
    return this.#get<string>('host') !== '';
  }

  async send(
    mail: Mail,
    { timeoutMs = 20_000, signal }: Parameters<MailSender['send']>[1] = {},
  ): Promise<MailSent> {
    const from = this.#from();
    const wrong = mail.to.find((address) => !addressForm.test(address));
    if (wrong !== undefined || mail.to.length === 0) {
      throw errors.no_address();
    }
    const text = mailText({ ...mail, from, at: this.#parts.clock.now() });
    try {
      const refused = await this.#converse(timeoutMs, signal, (session) =>
        session.send(from, mail.to, text),
      );
      return { refused };
    } catch (error) {
      throw isSvcError(error) ? error : troubleOf(error, this.#get<string>('host'));
    }
  }

  /** Greets and signs in; with an address, sends it something. */
  async test(to: string | undefined, signal: AbortSignal): Promise<ConnectionOutcome> {
    const began = this.#parts.clock.monotonic();
    const ended = (code: ConnectionOutcome['code'], detail: string): ConnectionOutcome => ({
      ok: code === 'ok',
      code,
      detail,
      latency_ms: Math.max(0, this.#parts.clock.monotonic() - began),
    });
    if (!this.isSet) {
      return ended('not_configured', 'mail.host is empty: name an SMTP server');
    }
    try {
      if (to === undefined) {
        await this.#converse(10_000, signal, async () => undefined);
        return ended('ok', `${this.#get<string>('host')} accepts e-mail`);
      }
      const id = `test-${Math.round(this.#parts.clock.now())}`;
      const { refused } = await this.send(
        { id, to: [to], subject: 'Test of svc', text: 'This is a test: e-mail from svc arrives.' },
        { signal },
      );
      return refused.length === 0
        ? ended('ok', `${this.#get<string>('host')} has taken an e-mail to ${to}`)
        : ended('failing', refused[0]!.reason);
    } catch (error) {
      const cause = isSvcError(error) ? (error.cause ?? error) : error;
      if (cause instanceof SmtpRefusal) {
        const code =
          cause.stage === 'auth'
            ? 'unauthorized'
            : cause.stage === 'starttls'
              ? 'tls'
              : cause.code === 0
                ? 'not_that_product'
                : 'failing';
        return ended(
          code,
          `${this.#get<string>('host')} refused: ${cause.code === 0 ? '' : `${cause.code} `}${cause.message}`,
        );
      }
      const { code, detail } = failureOf(
        asOutbound(cause),
        { url: `smtp://${this.#get<string>('host')}:${this.#get<number>('port')}` },
        smtp,
      );
      return ended(code, detail);
    }
  }

  async #converse<T>(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    talk: (session: SmtpSession) => Promise<T>,
  ): Promise<T> {
    const host = this.#get<string>('host');
    if (host === '') {
      throw errors.not_configured();
    }
    const server: SmtpServer = {
      host,
      address: await this.#parts.addressOf(host),
      port: this.#get('port'),
      security: this.#get('security'),
      user: this.#get('user'),
      password: this.#get('password'),
      ca: this.#get('ca'),
      insecure: this.#get('insecure'),
      name: this.#parts.name,
    };
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const stops = [
      AbortSignal.timeout(Math.ceil(timeoutMs)),
      this.#parts.ended,
      ...(signal ? [signal] : []),
    ];
    stops.forEach((one) => one.addEventListener('abort', end, { once: true }));
    try {
      const session = await SmtpSession.open(server, stop.signal);
      try {
        return await talk(session);
      } finally {
        session.close();
      }
    } finally {
      stops.forEach((one) => one.removeEventListener('abort', end));
    }
  }

  #from(): string {
    const from = this.#get<string>('from') || this.#get<string>('user');
    if (!addressForm.test(from)) {
      throw errors.no_sender();
    }
    return from;
  }

  #get<T>(name: string): T {
    return this.#parts.settings.get<T>(`mail.${name}`);
  }
}

/** Converts an error to the form of other failed requests. */
const asOutbound = (error: unknown): SvcError =>
  isSvcError(error) ? error : errors.connection({ cause: messageOf(error) }, { cause: error });

/** Converts an error; a permanent refusal differs from a temporary one. */
function troubleOf(error: unknown, host: string): SvcError {
  if (!(error instanceof SmtpRefusal)) {
    return errors.unreachable({ host, cause: messageOf(error) }, { cause: error });
  }
  const said = `${error.code === 0 ? '' : `${error.code} `}${error.message}`;
  const isForGood = error.code >= 500 || (error.code === 0 && error.stage !== 'connect');
  return isForGood
    ? errors.refused({ host, said }, { cause: error })
    : errors.later({ host, said }, { retryAfterSeconds: 60, cause: error });
}
