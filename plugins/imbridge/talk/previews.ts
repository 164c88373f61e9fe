import type { Incidents } from 'svc/contracts/alert';
import type { ImPreview } from 'svc/contracts/imbridge';
import { markdown } from 'svc/im';
import type { SeenBy } from 'svc/query';
import type { Handle } from 'svc/sdk';

import { requests } from './command-list.ts';
import { incidentLine, type Said } from './commands.ts';
import { presentLines, stateOf } from './incident-state.ts';
import type { Messenger } from '../messages/messenger.ts';
import { wordsOf } from '../messages/words.ts';
import type { Rights } from './rights.ts';

export interface PreviewParts {
  readonly incidents: Handle<Incidents>;
  readonly messenger: Messenger;
  readonly rights: Rights;
  readonly seenBy: SeenBy;
  readonly publicUrl: () => string;
}

/** Previews of incidents whose addresses a message has: all of its readers see them, so they show what its sender may see. */
export class Previews {
  readonly #parts: PreviewParts;

  constructor(parts: PreviewParts) {
    this.#parts = parts;
  }

  /** Returns whether there was anything to show. */
  async show(said: Said): Promise<boolean> {
    const { app, event, sender, allowed } = said;
    const { incidents, rights, messenger } = this.#parts;
    if (!allowed || !incidents.available || !rights.may(sender.principal, requests.look)) {
      return false;
    }
    const found = await Promise.all(event.text.split('\n').map((url) => this.#preview(said, url)));
    const previews = found.filter((one) => one !== undefined);
    return previews.length > 0 && (await messenger.preview(app, event, previews));
  }

  async #preview({ app, sender }: Said, url: string): Promise<ImPreview | undefined> {
    const { incidents, seenBy, publicUrl } = this.#parts;
    const own = `${publicUrl().replace(/\/$/, '')}/ui/incidents/`;
    const [, id] = /^(\d{1,15})(?:[/?#].*)?$/.exec(url.slice(own.length)) ?? [];
    if (!url.startsWith(own) || id === undefined) {
      return undefined;
    }
    const incident = await incidents.get().get(Number(id), await seenBy(sender.principal));
    const state = incident && (await stateOf(incidents.get(), incident.id));
    return incident === undefined || state === undefined
      ? undefined
      : {
          url,
          text: [incidentLine(incident), ...presentLines({ lines: [] }, state, wordsOf(app.locale))]
            .map(markdown)
            .join('\n'),
        };
  }
}
