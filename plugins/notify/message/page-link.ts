import { createHmac, timingSafeEqual } from 'node:crypto';

import {
  type Clock,
  type Ids,
  type Logger,
  messageOf,
  type Secrets,
  type Settings,
  type Tables,
} from 'svc/sdk';

import type { LinkOf, Target } from './message.ts';
import type { NotifyTables } from '../store/tables.ts';

export const pagePath = '/api/v1/incident-pages';
/** Time for which a link is valid. */
export const opensForMs = 7 * 86_400_000;

export type Opened =
  | { readonly result: 'open'; readonly target: Target }
  | { readonly result: 'expired' }
  | { readonly result: 'forged' };

const ref = 'links';
const placeOf = { table: 'notify_page_keys', row: ref, column: 'key' } as const;

export interface PageLinkParts {
  readonly tables: Tables<NotifyTables>;
  readonly secrets: Secrets;
  readonly ids: Pick<Ids, 'token'>;
  readonly log: Logger;
}

/** Signed links with an expiry: whoever has one may read that one page without an account. */
export class PageLinks {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  /**
   * Opens with the stored key, or a new one at the first start. One that cannot be decrypted because
   * the master key is lost is replaced: that costs the links of messages already sent, and no
   * message.
   */
  static async open({ tables, secrets, ids, log }: PageLinkParts): Promise<PageLinks> {
    const found = await tables.read
      .selectFrom('notify_page_keys')
      .select('key')
      .where('ref', '=', ref)
      .executeTakeFirst();
    if (found !== undefined) {
      try {
        return new PageLinks(secrets.open(placeOf, found.key));
      } catch (error) {
        log.error(
          { event: 'notify.link_key_replaced', cause: messageOf(error) },
          'key of the links in messages cannot be decrypted and was replaced; links in messages already sent no longer open',
        );
      }
    }
    const key = ids.token(32);
    const sealed = secrets.seal(placeOf, key);
    await tables.write((tx) =>
      tx
        .insertInto('notify_page_keys')
        .values({ ref, key: sealed })
        .onConflict((conflict) => conflict.column('ref').doUpdateSet({ key: sealed }))
        .execute(),
    );
    return new PageLinks(key);
  }

  /** Fit for a path. */
  sign(target: Target, now: number): string {
    const named = 'incident' in target ? `i${target.incident}` : `d${target.digest}`;
    const body = Buffer.from(`${named} ${Math.ceil((now + opensForMs) / 1_000)}`).toString(
      'base64url',
    );
    return `${body}.${this.#mac(body).toString('base64url')}`;
  }

  open(token: string, now: number): Opened {
    const [body = '', mac = ''] = token.split('.');
    const [given, own] = [Buffer.from(mac, 'base64url'), this.#mac(body)];
    if (given.length !== own.length || !timingSafeEqual(given, own)) {
      return { result: 'forged' };
    }
    const [named = '', until = ''] = Buffer.from(body, 'base64url').toString('utf8').split(' ');
    if (Number(until) * 1_000 < now) {
      return { result: 'expired' };
    }
    return {
      result: 'open',
      target: named.startsWith('i')
        ? { incident: Number(named.slice(1)) }
        : { digest: named.slice(1) },
    };
  }

  #mac(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest();
  }
}

export interface LinkParts {
  readonly links: PageLinks;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
}

/** Returns where links of messages lead: below the public URL, as the settings say. */
export function linksBelow(publicUrl: string, { links, settings, clock }: LinkParts): LinkOf {
  const origin = publicUrl.replace(/\/$/, '');
  return (target) => {
    if (target === undefined) {
      return origin;
    }
    if ('act' in target) {
      const path = settings.get<string>('notify.act_path');
      return path === '' ? '' : origin + path.replaceAll('{id}', String(target.act));
    }
    if ('chart' in target) {
      return `${origin}${pagePath}/${links.sign({ incident: target.chart }, clock.now())}/chart.png`;
    }
    const isIncident = 'incident' in target;
    return (
      origin +
      settings
        .get<string>(isIncident ? 'notify.incident_path' : 'notify.incidents_path')
        .replaceAll('{id}', isIncident ? String(target.incident) : '')
        .replaceAll('{token}', links.sign(target, clock.now()))
    );
  };
}
