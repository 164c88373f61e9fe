import type { Call } from 'svc/sdk';

import { sessionMs } from '../store/lifetimes.ts';
import { errors } from './errors.ts';

/**
 * Cookie that holds a page's refresh token: scripts cannot read it and other sites cannot send it.
 */
export class RefreshCookie {
  readonly #call: Call;
  readonly #name: string;

  constructor(call: Call) {
    this.#call = call;
    // Cookies know no ports: two svc of one machine would sign each other's pages out.
    this.#name = `svc_refresh_${/:(\d{1,5})$/.exec(call.headers['host'] ?? '')?.[1] ?? '0'}`;
  }

  /** Returns the token of the call; throws if the browser indicates that another site caused it. */
  read(): string {
    this.#assertOwnPage();
    const pairs = (this.#call.headers['cookie'] ?? '').split(';').map((pair) => pair.trim());
    const token = pairs
      .find((pair) => pair.startsWith(`${this.#name}=`))
      ?.slice(this.#name.length + 1);
    if (!token) {
      throw errors.no_refresh_token();
    }
    return token;
  }

  keep(token: string): void {
    this.#assertOwnPage();
    this.#set(token, Math.floor(sessionMs / 1000));
  }

  drop(): void {
    this.#set('', 0);
  }

  #set(value: string, seconds: number): void {
    const { headers, setHeader } = this.#call;
    // The origin of a page shows TLS, whatever proxy is in between; over plain HTTP a browser would
    // not store a secure cookie.
    const secure = headers['origin']?.startsWith('https://') ? '; Secure' : '';
    // Without a path it is sent back only to the folder it came from, the routes of sessions: no
    // other route can be called with it. An explicit one would be wrong wherever a proxy serves svc
    // below a path of its own.
    setHeader(
      'set-cookie',
      `${this.#name}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
    );
  }

  #assertOwnPage(): void {
    const { headers } = this.#call;
    const site = headers['sec-fetch-site'];
    if (
      (site !== undefined && site !== 'same-origin') ||
      !isOwnOrigin(headers['origin'], headers['host'])
    ) {
      throw errors.foreign_page();
    }
  }
}

const isOwnOrigin = (origin: string | undefined, host: string | undefined): boolean =>
  origin === undefined ||
  (host !== undefined && (origin === `http://${host}` || origin === `https://${host}`));
