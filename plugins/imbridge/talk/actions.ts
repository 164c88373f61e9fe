import type { ImButton } from 'svc/contracts/imbridge';
import type { Clock, Ids, Tables } from 'svc/sdk';

import type { FormKind } from './forms.ts';
import type { ImTables } from '../store/tables.ts';

/** Action of a button. An approval is bound to what was shown with it. */
export type Act =
  | { readonly kind: 'ack'; readonly incident: number }
  /** Silence; `until`: an existing silence is extended to then. */
  | {
      readonly kind: 'silence';
      readonly incident: number;
      readonly duration: string;
      readonly until?: string;
    }
  | { readonly kind: 'investigate'; readonly incident: number }
  /** A note, whose text comes with it. */
  | { readonly kind: 'note'; readonly incident: number }
  /** A form to fill in, for platforms that have them. */
  | { readonly kind: 'form'; readonly form: FormKind; readonly incident: number }
  | {
      readonly kind: 'approve' | 'deny';
      readonly approval: string;
      readonly args_sha256: string;
      readonly what: string;
    };

export interface Labelled {
  readonly label: string;
  readonly act: Act;
  readonly style?: ImButton['style'];
}

/** A form opens within seconds or not at all, so what asks for one is told from what may wait its turn. */
const formMark = 'form-';
export const asksForForm = (token: string): boolean => token.startsWith(formMark);

const livesMs = 7 * 86_400_000;

/** Actions of buttons: a platform sees a token, which only the app it was made for can present. */
export class Actions {
  readonly #tables: Tables<ImTables>;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(tables: Tables<ImTables>, clock: Clock, ids: Ids) {
    this.#tables = tables;
    this.#clock = clock;
    this.#ids = ids;
  }

  async buttons(
    appId: string,
    acts: readonly Labelled[],
  ): Promise<readonly (ImButton & { readonly token: string })[]> {
    const expiresAt = Math.floor(this.#clock.now()) + livesMs;
    const buttons = acts.map(({ label, style, act }) => ({
      act,
      button: {
        label,
        token: `${act.kind === 'form' ? formMark : ''}${this.#ids.token(12)}`,
        ...(style !== undefined && { style }),
      },
    }));
    await this.#tables.write(async (tx) => {
      for (const { act, button } of buttons) {
        await tx
          .insertInto('imbridge_actions')
          .values({
            token: button.token,
            app_id: appId,
            deed: JSON.stringify(act),
            expires_at: expiresAt,
          })
          .execute();
      }
    });
    return buttons.map(({ button }) => button);
  }

  async find(appId: string, token: string): Promise<Act | undefined> {
    const row = await this.#tables.read
      .selectFrom('imbridge_actions')
      .select('deed')
      .where('token', '=', token)
      .where('app_id', '=', appId)
      .where('expires_at', '>', this.#clock.now())
      .executeTakeFirst();
    return row && (JSON.parse(row.deed) as Act);
  }

  async forget(): Promise<void> {
    await this.#tables.write((tx) =>
      tx.deleteFrom('imbridge_actions').where('expires_at', '<=', this.#clock.now()).execute(),
    );
  }
}
