import type { IncidentActions, Incidents } from 'svc/contracts/alert';
import type { KnowledgeShelf } from 'svc/contracts/knowledge';
import type { NoticeDispatcher } from 'svc/contracts/notify';
import { formatDuration } from 'svc/query';
import { type Handle, type Principal, timestamp } from 'svc/sdk';

import type { About, RunRow, ScheduleRow } from '../store/tables.ts';

export interface DeliveryParts {
  readonly incidents: Handle<Incidents>;
  readonly actions: Handle<IncidentActions>;
  readonly channels: Handle<NoticeDispatcher>;
  readonly shelf: Handle<KnowledgeShelf>;
}

/** Answer of a run, with what it cost. */
export interface Answer {
  readonly text: string;
  readonly agent: string | undefined;
  readonly tokens: number;
}

const folder = 'schedules';
const longestNote = 4_000;
const maxLines = 40;
const keptDocuments = 100;

/** Brings answers to where people read them. Repeated after a crash, each is there once. */
export class Delivery {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Returns the place of the answer, in words. */
  async deliver(
    schedule: ScheduleRow,
    run: RunRow,
    answer: Answer,
    principal: Principal,
  ): Promise<string> {
    switch (schedule.deliver_to) {
      case 'timeline': {
        const { incident_id: incident } = JSON.parse(run.about) as About;
        await this.#note(
          incident!,
          principal,
          run.id,
          `${headOf(schedule, run, answer)}\n\n${answer.text}`,
        );
        return `incident ${incident}`;
      }
      case 'channel': {
        const lines = answer.text.split('\n').filter((line) => line.trim() !== '');
        const rest = lines.length - maxLines;
        await this.#say(schedule, `schedule.${run.id}`, headOf(schedule, run, answer), [
          ...lines.slice(0, maxLines),
          ...(rest > 0 ? [`… ${rest} more lines in the session of the agent`] : []),
        ]);
        return `channel ${(JSON.parse(schedule.channel_ids) as number[]).join(', ')}`;
      }
      case 'document':
        return await this.#shelve(schedule, run, answer);
    }
  }

  /** Tells people at the same place that a schedule was paused or stopped. */
  async tell(
    schedule: ScheduleRow,
    id: string,
    text: string,
    incident: number | undefined,
    principal: Principal | undefined,
  ): Promise<void> {
    if (schedule.deliver_to === 'channel') {
      await this.#say(schedule, `schedule.${id}`, text, []);
    } else if (schedule.deliver_to === 'document') {
      const name = `${nameOf(schedule)}/state.md`;
      await this.#parts.shelf.get().put(folder, [
        {
          name,
          title: schedule.name,
          tags: ['schedule'],
          content: `# ${schedule.name}\n\n${text}\n`,
          mark: id,
        },
      ]);
    } else if (incident !== undefined && principal !== undefined) {
      await this.#note(incident, principal, id, text);
    }
  }

  async #note(incident: number, principal: Principal, id: string, text: string): Promise<void> {
    const { incidents, actions } = this.#parts;
    const events = await incidents.get().events(incident, undefined);
    if (events.every(({ data }) => data['schedule_run'] !== id)) {
      const change = { principal, note: () => undefined };
      await actions.get().note(incident, text.slice(0, longestNote), change, { schedule_run: id });
    }
  }

  async #say(
    { id, channel_ids: channels }: ScheduleRow,
    words: string,
    title: string,
    lines: readonly string[],
  ): Promise<void> {
    await this.#parts.channels.get().say({
      id: words,
      title,
      lines,
      path: `/ui/schedules/${id}`,
      channels: JSON.parse(channels) as number[],
    });
  }

  async #shelve(schedule: ScheduleRow, run: RunRow, answer: Answer): Promise<string> {
    const shelf = this.#parts.shelf.get();
    const prefix = `${nameOf(schedule)}/`;
    const name = `${prefix}${timestamp(run.slot_at).slice(0, 16).replace(':', '')} ${run.id.slice(-6)}.md`;
    const others = [...(await shelf.marks(folder)).keys()]
      .filter((each) => each.startsWith(`${prefix}2`) && each !== name)
      .toSorted()
      .toReversed();
    const document = {
      name,
      title: `${schedule.name}, ${timestamp(run.slot_at).slice(0, 16).replace('T', ' ')} UTC`,
      tags: ['schedule'],
      content: `${headOf(schedule, run, answer)}\n\n${answer.text}\n`,
      mark: run.id,
    };
    await shelf.put(folder, [document], others.slice(keptDocuments - 1));
    return `${folder}/${name}`;
  }
}

function headOf({ name }: ScheduleRow, { late_ms: late }: RunRow, { agent }: Answer): string {
  const by = agent === undefined ? '' : `, by the agent ${agent}`;
  return `${name}${by}${late > 0 ? `, ${formatDuration(roughly(late))} late` : ''}`;
}

const roughly = (ms: number): number => Math.round(ms / 60_000) * 60_000;

/** Folder of a schedule below the folder of all. */
const nameOf = ({ id, name }: ScheduleRow): string =>
  `${name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)
    .toLowerCase()}-${id}`;
