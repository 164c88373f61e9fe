import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useRef } from 'preact/hooks';

import { editor as text } from '../../../text/english/watch/board-editor.ts';
import { say } from '../../../text/words.ts';
import { Button, Skeleton } from '../../../kit/parts.tsx';
import { Icon } from '../../../kit/icon.tsx';
import type { DraftPanel } from './draft.ts';
import { columns, middle, type Position, type Step, stepped } from './layout.ts';
import { PanelView, rowHeight } from '../drawn/panel.tsx';
import type { Panel } from '../drawn/shape.ts';

interface SlotProps {
  readonly panel: DraftPanel;
  /** The panel with its data, as soon as there is some. */
  readonly drawn: Panel | undefined;
  readonly bounds: readonly [number, number] | undefined;
  /** Absent for a panel of a plugin, which stays where it is. */
  readonly onKey?: (step: Step) => void;
  /** Called as often as the pointer reaches another place; `drag` names the whole movement. */
  readonly onDrag?: (to: Position, centre: number | undefined, drag: string) => void;
  readonly onEdit?: () => void;
  readonly onDuplicate?: () => void;
  readonly onRemove?: () => void;
}

const keySteps: Readonly<Record<string, { readonly move: Step; readonly size: Step }>> = {
  ArrowLeft: { move: { x: -1 }, size: { w: -1 } },
  ArrowRight: { move: { x: 1 }, size: { w: 1 } },
  ArrowUp: { move: { y: -1 }, size: { h: -1 } },
  ArrowDown: { move: { y: 1 }, size: { h: 1 } },
};

let drags = 0;

/** A place of the grid: its panel, and the handles that move and size it. */
export function Slot(props: SlotProps) {
  const { panel, drawn, bounds, onEdit, onDuplicate, onRemove } = props;
  const { title, position, type } = panel;
  const element = useRef<HTMLDivElement>(null);
  return (
    <div
      ref={element}
      class={type === 'row' ? 'slot slot-row' : 'slot'}
      role="group"
      aria-label={title}
      style={{ '--x': position.x + 1, '--w': position.w, '--h': position.h, '--y': position.y + 1 }}
    >
      {type === 'row' ? (
        <h2>{title}</h2>
      ) : drawn === undefined || bounds === undefined ? (
        <Skeleton height={Math.max(22, position.h * rowHeight - 24)} />
      ) : (
        <PanelView
          panel={{ ...drawn, title, position }}
          bounds={bounds}
          marks={[]}
          onRange={() => undefined}
          onEdit={undefined}
        />
      )}
      {onEdit && (
        <div class="slot-bar" onPointerDown={dragging(element, props, 'move')}>
          <Handle {...props} kind="move" />
          <span class="slot-tools" onPointerDown={(event) => event.stopPropagation()}>
            <Button kind="quiet" icon="more" label={say(text.edit, { title })} onClick={onEdit} />
            <Button
              kind="quiet"
              icon="copy"
              label={say(text.duplicate, { title })}
              onClick={onDuplicate}
            />
            <Button
              kind="quiet"
              icon="trash"
              label={say(text.remove, { title })}
              onClick={onRemove}
            />
          </span>
        </div>
      )}
      {onEdit && type !== 'row' && (
        <span class="slot-corner" onPointerDown={dragging(element, props, 'size')}>
          <Handle {...props} kind="size" />
        </span>
      )}
    </div>
  );
}

const Handle = ({
  panel: { title },
  kind,
  onKey,
}: SlotProps & { readonly kind: 'move' | 'size' }) => (
  <button
    type="button"
    class="button button-quiet slot-handle"
    aria-label={say(kind === 'move' ? text.move : text.resize, { title })}
    aria-describedby="board-hint"
    onKeyDown={(event: TargetedKeyboardEvent<HTMLButtonElement>) => {
      const step = keySteps[event.key];
      if (step !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        onKey?.(event.shiftKey ? step.size : step[kind]);
      }
    }}
  >
    {kind === 'move' ? <Icon name="menu" /> : <i class="slot-grip" />}
  </button>
);

/** Follows the pointer until it is lifted, by whole columns and rows. */
const dragging =
  (
    element: { readonly current: HTMLDivElement | null },
    { panel: { position }, onDrag }: SlotProps,
    kind: 'move' | 'size',
  ) =>
  (event: TargetedPointerEvent<HTMLElement>): void => {
    const slot = element.current!;
    const grid = slot.parentElement!;
    const style = getComputedStyle(grid);
    if (event.button !== 0 || style.gridTemplateColumns.split(' ').length < columns) {
      return;
    }
    const gap = Number.parseFloat(style.columnGap);
    const column = (grid.clientWidth + gap) / columns;
    const { clientX, clientY, pointerId, currentTarget: handle } = event;
    const drag = `drag ${(drags += 1)}`;
    slot.classList.add('slot-held');
    handle.setPointerCapture(pointerId);
    const follow = (moved: PointerEvent): void => {
      const x = Math.round((moved.clientX - clientX) / column);
      const y = Math.round((moved.clientY - clientY) / rowHeight);
      const to = stepped(position, kind === 'move' ? { x, y } : { w: x, h: y });
      onDrag?.(to, kind === 'move' ? undefined : middle(position), drag);
    };
    const end = (): void => {
      slot.classList.remove('slot-held');
      handle.removeEventListener('pointermove', follow);
      handle.removeEventListener('pointerup', end);
      handle.removeEventListener('pointercancel', end);
    };
    handle.addEventListener('pointermove', follow);
    handle.addEventListener('pointerup', end);
    handle.addEventListener('pointercancel', end);
  };
