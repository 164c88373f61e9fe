import type { Incidents } from 'svc/contracts/alert';
import type { ImPage } from 'svc/contracts/imbridge';
import { markdown } from 'svc/im';
import type { SeenBy } from 'svc/query';
import type { Handle } from 'svc/sdk';

import type { Actions } from './actions.ts';
import { commands } from './command-list.ts';
import { incidentLine, type Said } from './commands.ts';
import { actsFor } from './incident-state.ts';
import type { Messenger } from '../messages/messenger.ts';
import { filled, type Words, wordsOf } from '../messages/words.ts';
import type { Rights } from './rights.ts';

export interface HomeParts {
  readonly actions: Actions;
  readonly incidents: Handle<Incidents>;
  readonly messenger: Messenger;
  readonly rights: Rights;
  readonly seenBy: SeenBy;
  readonly publicUrl: () => string;
}

type Sections = ImPage['sections'];

const maxShown = 15;
const listed = ['open', 'acknowledged', 'silenced'] as const;
const listing = commands.find(({ name }) => name === 'incidents')!.request!;

/** Page of the app: what is open, as far as the person who looks at it may see it, with what they can do about it. */
export class Home {
  readonly #parts: HomeParts;

  constructor(parts: HomeParts) {
    this.#parts = parts;
  }

  async show(said: Said): Promise<void> {
    const { app, sender, event } = said;
    const words = wordsOf(app.locale);
    const who = sender.linked
      ? filled(words.youAre, {
          name: sender.principal.name ?? sender.principal.id,
          role: sender.principal.role,
        })
      : words.unlinked;
    await this.#parts.messenger.showPage(app, event.sender, {
      title: words.homeTitle,
      sections: [...(await this.#incidents(said, words)), { text: markdown(who), buttons: [] }],
    });
  }

  async #incidents({ app, sender, allowed }: Said, words: Words): Promise<Sections> {
    const { actions, incidents, rights, seenBy, publicUrl } = this.#parts;
    const text = (line: string): Sections => [{ text: line, buttons: [] }];
    if (!allowed) {
      return text(words.anonymous);
    }
    if (!incidents.available) {
      return text(words.noAlerts);
    }
    if (!rights.may(sender.principal, listing)) {
      return text(filled(words.forbidden, { role: sender.principal.role }));
    }
    const seen = await seenBy(sender.principal);
    const found = await incidents.get().list({ status: listed, limit: 200 }, seen);
    if (found.length === 0) {
      return text(words.noIncidents);
    }
    const url = publicUrl().replace(/\/$/, '');
    const sections = await Promise.all(
      found.slice(0, maxShown).map(async (incident) => ({
        text: markdown(incidentLine(incident)),
        buttons: [
          ...(sender.linked
            ? await actions.buttons(
                app.id,
                actsFor(incident.id, incident.status, words, true).filter(
                  ({ act }) => act.kind !== 'investigate',
                ),
              )
            : []),
          ...(url === '' ? [] : [{ label: words.open, url: `${url}/ui/incidents/${incident.id}` }]),
        ],
      })),
    );
    const more = found.length - sections.length;
    return [...sections, ...(more > 0 ? text(filled(words.more, { count: more })) : [])];
  }
}
