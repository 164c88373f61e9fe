import { createHash } from 'node:crypto';

import type { Person, RestoringContract } from 'svc/contracts/iam';
import type { MailSender } from 'svc/contracts/mail';
import { networkOf, SlidingCounter } from 'svc/flow';
import type { Jobs } from 'svc/jobs';
import {
  type AuditNote,
  type Clock,
  type Handle,
  type Ids,
  type Principal,
  type SvcError,
  type Tables,
} from 'svc/sdk';

import { errors } from './errors.ts';

export interface ResetTables {
  password_reset_links: {
    user_id: number;
    digest: string;
    version: number;
    email: string;
    expires_at: number;
  };
}

export interface ResetParts {
  readonly tables: Tables<ResetTables>;
  readonly passwords: RestoringContract;
  readonly mail: Handle<MailSender>;
  readonly jobs: Pick<Jobs<ResetTables>, 'add'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: () => string;
}

/** One message to send: a link to who asked for it, or word to who has another password now. */
export type Letter = {
  readonly kind: 'link' | 'changed';
  readonly email: string;
  readonly ip: string;
  readonly asked: number;
};

export const letters = 'letter';
const linkMs = 30 * 60_000;
const hourMs = 60 * 60_000;
const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const normal = (email: string): string => email.trim().normalize('NFC').toLowerCase();

/**
 * Password resets: whether an e-mail belongs to anybody is determined after the answer was sent.
 */
export class Resets {
  readonly #parts: ResetParts;
  readonly #byEmail: SlidingCounter;
  readonly #byPlace: SlidingCounter;
  readonly #all: SlidingCounter;
  readonly #tries: SlidingCounter;

  constructor(parts: ResetParts) {
    const { clock } = parts;
    this.#parts = parts;
    this.#byEmail = new SlidingCounter({ limit: 3, windowMs: hourMs, clock });
    this.#byPlace = new SlidingCounter({ limit: 20, windowMs: hourMs, clock });
    this.#all = new SlidingCounter({ limit: 300, windowMs: hourMs, clock });
    this.#tries = new SlidingCounter({ limit: 20, windowMs: 10 * 60_000, clock });
  }

  /** Accepts a request; it is on disk once this resolves, for addresses without an account, too. */
  async ask(typed: string, ip: string): Promise<void> {
    const { mail, tables, jobs, clock } = this.#parts;
    if (!mail.available || !mail.get().isSet) {
      throw errors.no_mail();
    }
    const email = normal(typed);
    const place = networkOf(ip);
    assertNoWait(
      Math.max(this.#byEmail.waitMs(email), this.#byPlace.waitMs(place), this.#all.waitMs('')),
      'links were requested too often',
    );
    this.#byEmail.add(email);
    this.#byPlace.add(place);
    this.#all.add('');
    const letter: Letter = { kind: 'link', email, ip, asked: Math.floor(clock.now()) };
    await tables.write((tx) => jobs.add(tx, letters, [{ payload: letter }]));
  }

  /** Sends pending mails; a link that was not sent in time is not sent any more. */
  async send({ kind, email, ip, asked }: Letter, id: string): Promise<void> {
    const { passwords, mail, clock } = this.#parts;
    const person = await passwords.find(email);
    if (person === undefined || clock.now() - asked > linkMs) {
      return;
    }
    if (!mail.available) {
      throw errors.mail_away();
    }
    const content = kind === 'link' ? linkText(await this.#linkFor(person), ip) : changedText(ip);
    await mail.get().send({ id: `password-${id}`, to: [person.email], ...content });
  }

  /** Sets the password and spends the link, in one transaction. */
  async redeem(
    token: string,
    password: string,
    ip: string,
    note: (note: AuditNote) => void,
  ): Promise<void> {
    const { tables, passwords, clock, jobs } = this.#parts;
    const place = networkOf(ip);
    assertNoWait(this.#tries.waitMs(place), 'too many links were tried');
    const digest = digestOf(token);
    const link = await tables.read
      .selectFrom('password_reset_links')
      .selectAll()
      .where('digest', '=', digest)
      .executeTakeFirst();
    const person = link && (await passwords.find(link.email));
    if (
      link === undefined ||
      link.expires_at <= clock.now() ||
      person?.id !== link.user_id ||
      person.version !== link.version
    ) {
      this.#tries.add(place);
      throw spent();
    }
    note({ actor: actorOf(person), resourceType: 'user', resourceId: person.id });
    await passwords.replace(person, password, () => tables.write(spend), note);

    async function spend(tx: Tables<ResetTables>['read']): Promise<void> {
      const { numDeletedRows } = await tx
        .deleteFrom('password_reset_links')
        .where('digest', '=', digest)
        .executeTakeFirstOrThrow();
      if (numDeletedRows === 0n) {
        throw spent();
      }
      const letter: Letter = {
        kind: 'changed',
        email: person!.email,
        ip,
        asked: Math.floor(clock.now()),
      };
      await jobs.add(tx, letters, [{ payload: letter }]);
    }
  }

  /**
   * Invalidates links to a mailbox that is no longer that of its account, permanently, even if it
   * becomes that again.
   */
  async follow(userId: number): Promise<void> {
    const { tables, passwords } = this.#parts;
    const link = await tables.read
      .selectFrom('password_reset_links')
      .select(['digest', 'email'])
      .where('user_id', '=', userId)
      .executeTakeFirst();
    if (link !== undefined && (await passwords.find(link.email))?.id !== userId) {
      await tables.write((tx) =>
        tx.deleteFrom('password_reset_links').where('digest', '=', link.digest).execute(),
      );
    }
  }

  async forget(): Promise<void> {
    await this.#parts.tables.write((tx) =>
      tx
        .deleteFrom('password_reset_links')
        .where('expires_at', '<=', this.#parts.clock.now())
        .execute(),
    );
  }

  /** A new one at every try to send it: only its digest is kept. */
  async #linkFor({ id, version, email }: Person): Promise<string> {
    const { tables, clock, ids, publicUrl } = this.#parts;
    const token = ids.token(32);
    const row = {
      user_id: id,
      digest: digestOf(token),
      version,
      email,
      expires_at: Math.floor(clock.now()) + linkMs,
    };
    await tables.write((tx) =>
      tx
        .insertInto('password_reset_links')
        .values(row)
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
        .execute(),
    );
    // Behind the #, so that no server and no log on the way sees it.
    return `${publicUrl().replace(/\/$/, '')}/#reset=${token}`;
  }
}

const spent = (): SvcError => errors.spent();

const actorOf = ({ id, email, display_name: name, role }: Person): Principal => ({
  kind: 'user',
  id: String(id),
  email,
  name,
  role,
  grants: [],
});

function assertNoWait(waitMs: number, why: string): void {
  if (waitMs > 0) {
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    throw errors.throttled({ why, seconds: retryAfterSeconds }, { retryAfterSeconds });
  }
}

const linkText = (link: string, ip: string) => ({
  subject: 'Set another password for svc',
  text: [
    'This link sets another password for your account of svc. It works once, for half an hour:',
    ...['', link, ''],
    `It was requested from ${ip}. If you do not open it, nothing changes.`,
  ].join('\n'),
});

const changedText = (ip: string) => ({
  subject: 'Your password for svc was changed',
  text: `The password of your svc account was changed with a link from an e-mail, from ${ip}. All your sessions and API tokens have ended.\n\nIf that was not you, tell an administrator now.`,
});
