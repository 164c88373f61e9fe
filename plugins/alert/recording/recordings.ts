import {
  type Call,
  type Clock,
  defineEvent,
  type Page,
  type PageRequest,
  type PluginContext,
  timestamp,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { actorOf } from '../incident/ledger/actor.ts';
import { errors } from './errors.ts';
import type { Recorder } from './recorder.ts';
import type { Recording } from './recording.ts';
import { type NewRecording, RecordingStore, type RecordingTables } from './recording-store.ts';

/**
 * Fired when recording rules are stored, so that the other generation of the plugin learns of it
 * too. Without groups, as earlier versions fire it, any may have changed.
 */
const RecordingsChanged = defineEvent<{ readonly groups?: readonly string[] }>(
  'alert.recordings.changed',
);

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const RecordingItem = Type.Object({
  id: Type.Integer(),
  group: Type.String({ description: 'Name of the group; its rules are evaluated in order' }),
  position: Type.Integer(),
  record: Type.String({ description: 'Name of the series to write' }),
  expr: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  interval_seconds: Type.Integer(),
  limit: Type.Integer(),
  enabled: Type.Boolean(),
  evaluated_at: orNull(Type.String({ format: 'date-time' })),
  series: Type.Integer({ description: 'Number of series in the last evaluation' }),
  error: orNull(Type.String({ description: 'Error from the last evaluation' })),
  created_by: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
});

type Item = Static<typeof RecordingItem>;
type Change = Pick<Call, 'principal' | 'note'>;

const maxRecordings = 20_000;

/** Recording rules: what is stored, and what the recorder evaluates of it. */
export class Recordings {
  readonly #store: RecordingStore;
  readonly #clock: Clock;
  readonly #recorder: Recorder;
  readonly #changed: (groups: readonly string[]) => void;

  constructor(ctx: PluginContext, recorder: Recorder) {
    this.#store = new RecordingStore(ctx.db<RecordingTables>());
    this.#clock = ctx.clock;
    this.#recorder = recorder;
    this.#changed = (groups) => ctx.events.emit(RecordingsChanged, { groups });
    ctx.events.on(RecordingsChanged, ({ groups }) =>
      groups === undefined ? this.load() : this.#loadGroups(groups),
    );
  }

  async load(): Promise<void> {
    this.#recorder.load(await this.#store.all());
  }

  async #loadGroups(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#recorder.loadGroup(name, await this.#store.group(name));
    }
  }

  async list(page: PageRequest): Promise<Page<Item>> {
    const { items, ...rest } = await this.#store.list(page);
    return { ...rest, items: items.map((recording) => this.#shown(recording)) };
  }

  groups(): Promise<ReadonlySet<string>> {
    return this.#store.groups();
  }

  group(name: string): Promise<readonly Recording[]> {
    return this.#store.group(name);
  }

  /** Replaces groups of the same names. */
  async put(call: Change, recordings: readonly NewRecording[]): Promise<void> {
    const groups = [...new Set(recordings.map(({ group }) => group))];
    if ((await this.#store.countOutside(groups)) + recordings.length > maxRecordings) {
      throw errors.too_many_recordings({ max: maxRecordings });
    }
    await this.#store.replace(recordings, actorOf(call.principal).name, this.#clock.now());
    await this.#loadGroups(groups);
    this.#changed(groups);
  }

  async remove(call: Change, id: number): Promise<void> {
    const before = await this.#store.find(id);
    if (before === undefined) {
      throw errors.no_recording({ id });
    }
    call.note({ resourceType: 'recording_rule', resourceId: id, before });
    await this.#store.remove(id);
    await this.#loadGroups([before.group]);
    this.#changed([before.group]);
  }

  #shown({ created_at: made, labels, ...recording }: Recording): Item {
    const state = this.#recorder.stateOf(recording.id);
    return {
      ...recording,
      labels: { ...labels },
      evaluated_at: state === undefined ? null : timestamp(state.at),
      series: state?.series ?? 0,
      error: state?.error ?? null,
      created_at: timestamp(made),
    };
  }
}
