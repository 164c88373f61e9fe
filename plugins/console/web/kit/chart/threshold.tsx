import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useState } from 'preact/hooks';

import { figure, type Unit } from '../../text/format.ts';
import type { PlotPlace } from './plot.ts';

interface ThresholdProps {
  readonly place: PlotPlace;
  readonly value: number;
  readonly label: string;
  readonly unit: Unit;
  /** The side of the line on which values breach; none for a comparison that has no side. */
  readonly side: 'above' | 'below' | undefined;
  readonly onChange: (value: number) => void;
}

/** A threshold on a chart, moved by hand or by the arrow keys. */
export function Threshold({ place, value, label, unit, side, onChange }: ThresholdProps) {
  const [held, setHeld] = useState<number>();
  const shown = held ?? value;
  const step = stepOf(place);
  const bottom = place.top + place.height;
  const y = Math.min(
    bottom,
    Math.max(place.top, bottom - ((shown - place.low) / (place.high - place.low)) * place.height),
  );
  const valueAt = (event: TargetedPointerEvent<HTMLDivElement>): number => {
    const frame = event.currentTarget.parentElement!.getBoundingClientRect();
    const part = (bottom - (event.clientY - frame.top)) / place.height;
    const raw = place.low + Math.min(1, Math.max(0, part)) * (place.high - place.low);
    return tidy(Math.round(raw / step) * step, step);
  };
  const key = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const steps = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (steps !== undefined) {
      event.preventDefault();
      onChange(tidy(value + steps * step, step));
    }
  };
  const box = { left: `${place.left}px`, width: `${place.width}px` };
  return (
    <>
      {side !== undefined && (
        <div
          class="breach"
          style={
            side === 'above'
              ? { ...box, top: `${place.top}px`, height: `${y - place.top}px` }
              : { ...box, top: `${y}px`, height: `${bottom - y}px` }
          }
        />
      )}
      <div
        class="threshold"
        style={{ ...box, top: `${y}px` }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-orientation="vertical"
        aria-valuemin={Math.min(place.low, shown)}
        aria-valuemax={Math.max(place.high, shown)}
        aria-valuenow={shown}
        aria-valuetext={figure(shown, unit)}
        onKeyDown={key}
        onPointerDown={(event) => {
          event.preventDefault();
          event.currentTarget.focus();
          event.currentTarget.setPointerCapture(event.pointerId);
          setHeld(valueAt(event));
        }}
        onPointerMove={(event) => held !== undefined && setHeld(valueAt(event))}
        onPointerUp={() => {
          if (held !== undefined) {
            onChange(held);
            setHeld(undefined);
          }
        }}
        onPointerCancel={() => setHeld(undefined)}
      >
        <span>{figure(shown, unit)}</span>
      </div>
    </>
  );
}

/** Returns a step of 1, 2 or 5 that is about a hundredth of the axis. */
function stepOf({ low, high }: PlotPlace): number {
  const raw = (high - low) / 100;
  const power = 10 ** Math.floor(Math.log10(raw));
  const first = raw / power;
  return (first >= 5 ? 5 : first >= 2 ? 2 : 1) * power;
}

/** Takes off the noise that binary fractions leave behind a step. */
const tidy = (value: number, step: number): number =>
  Number(value.toFixed(Math.min(12, Math.max(0, -Math.floor(Math.log10(step))))));
