import { useEffect, useRef, useState } from 'preact/hooks';

import { useAdditions, useMay } from '../../client/additions.ts';
import { address } from '../../browser/location.ts';
import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/onward.css' with { type: 'text' };
import { onward as text } from '../../text/english/onward.ts';
import { moment } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { Segments, SelectField } from '../form.tsx';
import { Icon, type IconName } from '../icon.tsx';
import { Button } from '../parts.tsx';
import { Note } from './note.tsx';
import { Pin } from './pin.tsx';
import { peakOf, type Range, rangeAround, type Shown, written } from './shown.ts';
import { logsOf, subjectOf, tracesOf } from './subject.ts';

wear(rules);

/** Place on the screen at which a menu opens, and the moment of the chart that it is about. */
export interface Opened {
  readonly x: number;
  readonly y: number;
  readonly at?: number;
}

interface MenuProps {
  readonly shown: Shown;
  readonly opened: Opened;
  readonly onClose: () => void;
}

/** Everything that a chart leads to: a dashboard, a rule, the logs and traces of its time, an answer. */
export function Menu({ shown, opened, onClose }: MenuProps) {
  const [next, setNext] = useState<'pin' | { readonly noteAt: number }>();
  return next === undefined ? (
    <Choices shown={shown} opened={opened} onClose={onClose} onNext={setNext} />
  ) : next === 'pin' ? (
    <Pin shown={shown} onClose={onClose} />
  ) : (
    <Note at={next.noteAt} device={subjectOf(shown)['device_id']} onClose={onClose} />
  );
}

interface ChoicesProps extends MenuProps {
  readonly onNext: (next: 'pin' | { readonly noteAt: number }) => void;
}

function Choices({ shown, opened, onClose, onNext }: ChoicesProps) {
  const element = useRef<HTMLDivElement>(null);
  const isLeft = useRef(false);
  const moments = momentsOf(shown, opened.at);
  const [picked, pick] = useState(moments[0]!.id);
  const { at, range } = moments.find(({ id }) => id === picked)!;
  useEffect(() => {
    const own = element.current!;
    own.showPopover();
    const { width, height } = own.getBoundingClientRect();
    own.style.left = `${Math.max(8, Math.min(opened.x, innerWidth - width - 8))}px`;
    own.style.top = `${Math.max(8, Math.min(opened.y, innerHeight - height - 8))}px`;
    own.querySelector<HTMLElement>('a, button')?.focus();
  }, []);
  const leaveFor = (next: 'pin' | { readonly noteAt: number }): void => {
    // The focus goes back to where the menu was opened, and from there into the dialog.
    isLeft.current = true;
    element.current?.hidePopover();
    onNext(next);
  };
  return (
    <div
      ref={element}
      popover="auto"
      class="onward"
      role="dialog"
      aria-label={say(text.title, { title: shown.title })}
      onToggle={(event) => event.newState === 'closed' && !isLeft.current && onClose()}
    >
      {moments.length > 1 && (
        <Segments
          label={text.moment}
          value={picked}
          options={moments.map(({ id, name }) => [id, name])}
          onChange={pick}
        />
      )}
      <Ways
        shown={shown}
        range={range}
        onPin={() => leaveFor('pin')}
        onNote={() => leaveFor({ noteAt: at })}
      />
    </div>
  );
}

interface Moment {
  readonly id: 'pointed' | 'all' | 'peak';
  readonly name: string;
  readonly at: number;
  readonly range: Range;
}

/** Returns the moments that a menu offers: the one that was pointed at first. */
function momentsOf({ bounds, plotted }: Shown, pointed: number | undefined): readonly Moment[] {
  const peak = plotted && peakOf(plotted);
  const around = (id: Moment['id'], [from, to]: Range, sentence: string): Moment => ({
    id,
    at: from,
    range: rangeAround(from, to, bounds),
    name: say(sentence, { time: moment(from * 1000, Date.now()) }),
  });
  return [
    ...(pointed === undefined ? [] : [around('pointed', [pointed, pointed], text.at)]),
    { id: 'all', name: text.all, at: bounds[1], range: bounds },
    ...(peak === undefined ? [] : [around('peak', peak, text.peak)]),
  ];
}

interface WaysProps {
  readonly shown: Shown;
  readonly range: Range;
  readonly onPin: () => void;
  readonly onNote: () => void;
}

function Ways({ shown, range, onPin, onNote }: WaysProps) {
  const may = useMay();
  const { rooms } = useAdditions();
  const [chosen, choose] = useState(0);
  const { expr = '' } = shown.queries[chosen] ?? {};
  const subject = subjectOf(shown);
  const at = written(range);
  const has = (room: string): boolean => rooms.includes(room);
  return (
    <>
      {shown.queries.length > 1 && (
        <SelectField
          label={text.query}
          value={String(chosen)}
          options={shown.queries.map(({ name, expr: one }, index) => [String(index), name ?? one])}
          onChange={(index) => choose(Number(index))}
        />
      )}
      <ul class="plain">
        {has('monitor') && may('monitor:write') && (
          <li>
            <Button kind="quiet" icon="dashboards" onClick={onPin}>
              {text.pin}
            </Button>
          </li>
        )}
        {has('alert') && may('alert:write') && (
          <Way icon="rules" to={address(['rules', 'new'], { q: expr })} name={text.rule} />
        )}
        {has('logs') && (
          <Way icon="logs" to={address(['logs'], { q: logsOf(subject), at })} name={text.logs} />
        )}
        {has('traces') && (
          <Way
            icon="traces"
            to={address(['traces'], { q: tracesOf(subject), at })}
            name={text.traces}
          />
        )}
        {has('chat') && (
          <Way
            icon="chat"
            to={address(['chat'], { ask: questionOf(shown.title, expr, range) })}
            name={text.ask}
          />
        )}
        {has('changes') && may('change:post') && (
          <li>
            <Button kind="quiet" icon="plus" onClick={onNote}>
              {text.note}
            </Button>
          </li>
        )}
      </ul>
    </>
  );
}

const Way = ({
  icon,
  to,
  name,
}: {
  readonly icon: IconName;
  readonly to: string;
  readonly name: string;
}) => (
  <li>
    <a class="button button-quiet" href={to}>
      <Icon name={icon} />
      {name}
    </a>
  </li>
);

/** Returns the question of a chart in words, with its query and its time, as an agent needs them. */
const questionOf = (title: string, query: string, [from, to]: Range): string =>
  say(text.question, {
    title,
    query,
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
  });
