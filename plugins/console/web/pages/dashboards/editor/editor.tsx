import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { api, type Query } from '../../../client/api.ts';
import { address, goTo, useParam } from '../../../browser/location.ts';
import { wear } from '../../../browser/sheet.ts';
import { editor as text } from '../../../text/english/watch/board-editor.ts';
import { panelForm } from '../../../text/english/watch/dashboards.ts';
import { say } from '../../../text/words.ts';
import { attempt, tell } from '../../../kit/dialog.tsx';
import { SpanChoice } from '../../../kit/chart/span.tsx';
import { Button, Empty, Head, Refused, Skeleton } from '../../../kit/parts.tsx';
import rules from '../../../styles/board-editor.css' with { type: 'text' };
import { type Draft, type DraftPanel, sent, usePreview, useSaved, useSteps } from './draft.ts';
import { firstGap } from './gap.ts';
import { type KeptDraft, keepDraft, keptDraft } from './kept-drafts.ts';
import { afterKey, columns, isSame, type Position, settled, type Step } from './layout.ts';
import { PanelForm } from './panel-form.tsx';
import { BoardSettings } from './board-settings.tsx';
import type { Rendered } from '../drawn/shape.ts';
import { Slot } from './slot.tsx';

wear(rules);

interface EditorProps {
  readonly uid: string;
  readonly query: Query;
  readonly onDone: () => void;
}

/**
 * Loads what is edited; a dashboard that does not exist yet begins with the title of the address, and
 * a draft that was left goes on where it was.
 */
export function Editor({ uid, query, onDone }: EditorProps) {
  const [title] = useParam('title');
  const path = `/monitor/dashboards/${encodeURIComponent(uid)}`;
  const kept = useMemo(() => keptDraft(uid), [uid]);
  const { value, error } = useSaved(kept === undefined ? path : undefined);
  const isNew = error?.status === 404 && title !== '';
  const saved =
    kept?.saved ?? (isNew ? { uid, title, variables: [], panels: [], version: undefined } : value);
  if (saved === undefined) {
    return error === undefined ? <Skeleton lines={10} /> : <Refused error={error} />;
  }
  return <Board saved={saved} kept={kept} query={query} path={path} onDone={onDone} />;
}

interface BoardProps {
  readonly saved: KeptDraft['saved'];
  readonly kept: KeptDraft | undefined;
  readonly query: Query;
  readonly path: string;
  readonly onDone: () => void;
}

type Steps = ReturnType<typeof useSteps>;

let keys = 0;
const freshKey = (): string => `panel ${(keys += 1)}`;

/** A dashboard while it is edited: nothing is saved before the reader says so, and every step can be undone. */
function Board({ saved, kept, query, path, onDone }: BoardProps) {
  const begin = useMemo(() => kept?.begin ?? draftOf(saved), []);
  const steps = useSteps(begin, kept?.steps);
  const { draft, change } = steps;
  const { value, error } = usePreview(saved.uid, draft, query);
  const [edited, setEdited] = useState<DraftPanel>();
  const [isSetting, setSetting] = useState(false);
  const [said, announce] = useState('');
  const done = useKeeping({ saved, begin, steps: steps.all });
  /** Leads to the dashboard, or, where there is none, to all of them. */
  const leave = (exists: boolean): void => {
    done();
    if (exists) {
      onDone();
    } else {
      goTo(address(['dashboards']));
    }
  };
  useUndoKeys(steps);
  const fixed = (value?.panels ?? []).filter(({ id }) => id === null);
  const hands = handsOf(
    steps,
    fixed.map(({ position }) => position),
    announce,
  );
  return (
    <>
      <Head title={draft.title ?? value?.title ?? saved.uid}>
        <Tools
          steps={steps}
          isDirty={draft !== begin}
          isNew={saved.version === undefined}
          onSettings={() => setSetting(true)}
          onAdd={(type, title) => setEdited(hands.fresh(type, title))}
          onDiscard={() => leave(saved.version !== undefined)}
          onSave={() => save(path, draft, saved.version, leave)}
        />
      </Head>
      <div class="filters">
        <SpanChoice />
        <span class="soft" id="board-hint">
          {text.hint}
        </span>
      </div>
      <p class="hidden-text" role="status">
        {said}
      </p>
      {error && <Refused error={error} />}
      {draft.panels.length === 0 && fixed.length === 0 && (
        <Empty title={text.none}>{text.noneNote}</Empty>
      )}
      <Grid draft={draft} value={value} hands={hands} onEdit={setEdited} />
      {edited !== undefined && (
        <PanelForm
          title={draft.panels.includes(edited) ? panelForm.edit : panelForm.add}
          panel={edited}
          onClose={() => setEdited(undefined)}
          onDone={(panel) => {
            setEdited(undefined);
            hands.put(panel);
          }}
        />
      )}
      {isSetting && (
        <BoardSettings
          draft={draft}
          onClose={() => setSetting(false)}
          onDone={(changes) => {
            setSetting(false);
            change((before) => ({ ...before, ...changes }));
          }}
        />
      )}
    </>
  );
}

const draftOf = ({ title, variables, panels }: KeptDraft['saved']): Draft => ({
  title,
  variables,
  panels: panels.map((panel) => ({ ...panel, key: freshKey() })),
});

/** Saves a draft in one step; a dashboard without panels is none. */
function save(
  path: string,
  draft: Draft,
  version: number | undefined,
  onDone: (exists: boolean) => void,
): void {
  void attempt(async () => {
    if (draft.panels.length === 0) {
      await api.delete(path);
      tell(text.deleted);
      onDone(false);
      return;
    }
    await api.put(path, { ...sent(draft), ...(version !== undefined && { version }) });
    tell(text.saved);
    onDone(true);
  });
}

/** Returns what can be done with the panels of a draft. */
function handsOf(
  { draft, change }: Steps,
  walls: readonly Position[],
  announce: (said: string) => void,
) {
  const places = draft.panels.map(({ position }) => position);
  const arrange = (next: readonly Position[], at: number, by: string): void => {
    announce(placeText(draft.panels[at]!.title, next[at]!));
    change((before) => placed(before, next), by);
  };
  return {
    /** Returns a panel that is not part of the draft yet. */
    fresh: (type: string, title: string): DraftPanel => ({
      key: freshKey(),
      type,
      title,
      query: '',
      legend: '',
      unit: 'none',
      thresholds: [],
      position:
        type === 'row'
          ? { x: 0, y: lowest([...places, ...walls]), w: columns, h: 1 }
          : firstGap([...places, ...walls]),
    }),
    /** Adds a panel, or replaces the one that it was made of. */
    put: (panel: DraftPanel): void =>
      change((before) => {
        const at = before.panels.findIndex(({ key }) => key === panel.key);
        return {
          ...before,
          panels: at < 0 ? [...before.panels, panel] : before.panels.with(at, panel),
        };
      }),
    duplicate: ({ id: _, ...panel }: DraftPanel): void => {
      const copy = {
        ...panel,
        key: freshKey(),
        title: say(text.copyOf, { title: panel.title }).slice(0, 200),
        position: placeFor([...places, ...walls], panel.position),
      };
      change((before) => ({ ...before, panels: [...before.panels, copy] }));
      announce(say(text.copied, { title: panel.title }));
    },
    remove: (panel: DraftPanel): void => {
      change((before) => {
        const panels = before.panels.filter(({ key }) => key !== panel.key);
        const rest = panels.map(({ position }) => position);
        return placed({ ...before, panels }, settled(rest, undefined, walls));
      });
      announce(say(text.removed, { title: panel.title }));
    },
    key: (at: number, step: Step): void =>
      arrange(afterKey(places, at, step, walls), at, `keys ${draft.panels[at]!.key}`),
    drag: (at: number, to: Position, centre: number | undefined, drag: string): void =>
      arrange(settled(places.with(at, to), at, walls, centre), at, drag),
  };
}

/** Returns a draft with its panels at other places; the same one where nothing has moved. */
const placed = (draft: Draft, next: readonly Position[]): Draft =>
  isSame(
    next,
    draft.panels.map(({ position }) => position),
  )
    ? draft
    : {
        ...draft,
        panels: draft.panels.map((panel, at) => ({ ...panel, position: next[at]! })),
      };

interface ToolsProps {
  readonly steps: Steps;
  readonly isDirty: boolean;
  readonly isNew: boolean;
  readonly onSettings: () => void;
  readonly onAdd: (type: string, title: string) => void;
  readonly onDiscard: () => void;
  readonly onSave: () => void;
}

const Tools = ({
  steps: { draft, undo, redo, mayUndo, mayRedo },
  isDirty,
  isNew,
  onSettings,
  onAdd,
  onDiscard,
  onSave,
}: ToolsProps) => (
  <>
    <Button onClick={undo} disabled={!mayUndo} keys={text.undoKeys}>
      {text.undo}
    </Button>
    <Button onClick={redo} disabled={!mayRedo}>
      {text.redo}
    </Button>
    {draft.title !== null && <Button onClick={onSettings}>{text.settings}</Button>}
    <Button onClick={() => onAdd('row', text.newRow)}>{text.addRow}</Button>
    <Button icon="plus" onClick={() => onAdd('timeseries', '')}>
      {text.addPanel}
    </Button>
    <Button onClick={onDiscard}>{text.discard}</Button>
    <Button
      kind="primary"
      icon="check"
      onClick={onSave}
      disabled={!isDirty || (isNew && draft.panels.length === 0)}
    >
      {text.save}
    </Button>
  </>
);

interface GridProps {
  readonly draft: Draft;
  readonly value: Rendered | undefined;
  readonly hands: ReturnType<typeof handsOf>;
  readonly onEdit: (panel: DraftPanel) => void;
}

/** Panels of users with their handles, and those of a plugin as they are. */
function Grid({ draft, value, hands, onEdit }: GridProps) {
  const bounds = value && ([Date.parse(value.from) / 1000, Date.parse(value.to) / 1000] as const);
  return (
    <div class="charts panels board">
      {draft.panels.map((panel, at) => (
        <Slot
          key={panel.key}
          panel={panel}
          drawn={value?.panels.find(({ id }) => id === at + 1)}
          bounds={bounds}
          onKey={(step) => hands.key(at, step)}
          onDrag={(to, centre, drag) => hands.drag(at, to, centre, drag)}
          onEdit={() => onEdit(panel)}
          onDuplicate={() => hands.duplicate(panel)}
          onRemove={() => hands.remove(panel)}
        />
      ))}
      {(value?.panels ?? [])
        .filter(({ id }) => id === null)
        .map((panel) => (
          <Slot
            key={`${panel.title} ${panel.position.x} ${panel.position.y}`}
            panel={{ ...panel, id: 0, key: '' }}
            drawn={panel}
            bounds={bounds}
          />
        ))}
    </div>
  );
}

const placeText = (title: string, { x, y, w, h }: Position): string =>
  say(text.place, { title, x: x + 1, y: y + 1, w, h });

const lowest = (places: readonly Position[]): number =>
  places.reduce((end, { y, h }) => Math.max(end, y + h), 0);

/** Returns a free place of the same size: beside the panel if there is room, or else at the end. */
function placeFor(others: readonly Position[], like: Position): Position {
  const beside = { ...like, x: like.x + like.w };
  const isFree =
    beside.x + beside.w <= columns &&
    others.every(
      (other) =>
        other.x >= beside.x + beside.w ||
        beside.x >= other.x + other.w ||
        other.y >= beside.y + beside.h ||
        beside.y >= other.y + other.h,
    );
  return isFree ? beside : { ...like, y: lowest(others) };
}

/**
 * Keeps a changed draft while the reader follows a link, and says so. The function that it returns
 * ends that: the draft is saved or discarded.
 */
function useKeeping(draft: KeptDraft): () => void {
  const latest = useRef(draft);
  latest.current = draft;
  const { uid } = draft.saved;
  const isDirty = draft.steps.now !== draft.begin;
  useEffect(() => keepDraft(uid, isDirty ? draft : undefined), [draft.steps]);
  useEffect(
    () => () => {
      if (keptDraft(uid) !== undefined) {
        tell(say(text.kept, { title: latest.current.steps.now.title ?? uid }));
      }
    },
    [],
  );
  return () => keepDraft(uid, undefined);
}

/** Undo and redo by their usual keys, except in a field, which has its own. */
function useUndoKeys({ undo, redo }: Pick<Steps, 'undo' | 'redo'>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isField = (event.target as Element).closest('input, textarea, select, dialog') !== null;
      if (isField || !(event.ctrlKey || event.metaKey)) {
        return;
      }
      const key = event.key.toLowerCase();
      if (key === 'y' || (key === 'z' && event.shiftKey)) {
        event.preventDefault();
        redo();
      } else if (key === 'z') {
        event.preventDefault();
        undo();
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [undo, redo]);
}
