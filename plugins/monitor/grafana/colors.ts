import { text } from '../frames/foreign-json.ts';
import type { State } from '../model/thresholds.ts';

/** Grafana's palette: five shades of each hue, from very light to dark. */
const palette: Readonly<Record<string, readonly [string, string, string, string, string]>> = {
  red: ['#FFA6B0', '#FF7383', '#F2495C', '#E02F44', '#C4162A'],
  orange: ['#FFCB7D', '#FFB357', '#FF9830', '#FF780A', '#FA6400'],
  yellow: ['#FFF899', '#FFEE52', '#FADE2A', '#F2CC0C', '#E0B400'],
  green: ['#C8F2C2', '#96D98D', '#73BF69', '#56A64B', '#37872D'],
  blue: ['#C0D8FF', '#8AB8FF', '#5794F2', '#3274D9', '#1F60C4'],
  purple: ['#DEB6F2', '#CA95E5', '#B877D9', '#A352CC', '#8F3BB8'],
};
const shades = ['super-light', 'light', '', 'semi-dark', 'dark'];
const css = /^(?:#[0-9A-Fa-f]{3,8}|rgba?\([0-9., %]{1,40}\)|[a-z]{3,20})$/;

/** Returns the CSS color of a color of Grafana; undefined for what is none, such as `text`. */
export function colorOf(value: unknown): string | undefined {
  const name = text(value, 60);
  const [, shade = '', hue = ''] = /^(?:([a-z-]+)-)?([a-z]+)$/.exec(name) ?? [];
  const found = palette[hue]?.[shades.indexOf(shade)];
  if (found !== undefined) {
    return found;
  }
  return css.test(name) && name !== 'text' && name !== 'transparent' ? name : undefined;
}

const states: readonly (readonly [form: RegExp, state: State])[] = [
  [/green|transparent|text|#(?:299c46|37872d|73bf69|56a64b)/i, 'ok'],
  [/yellow|orange|#(?:eab839|ed8128|ff9830|ff780a|f2cc0c|fade2a)/i, 'warning'],
  [/red|#(?:d44a3a|bf1b00|f2495c|e02f44|c4162a)/i, 'critical'],
];

export interface StateColor {
  readonly state: State;
  /** Where the state alone would be drawn in another color. */
  readonly color?: string;
}

/** Returns the state that a color of a threshold stands for: a traffic light, by the nearest hue. */
export function stateOfColor(value: unknown): StateColor {
  const name = text(value, 60);
  const usual = states.find(([form]) => form.test(name))?.[1];
  if (usual !== undefined) {
    return { state: usual };
  }
  const color = colorOf(name);
  return { state: stateOfHue(color), ...(color !== undefined && { color }) };
}

function stateOfHue(color: string | undefined): State {
  const [red, green, blue] = channels(color ?? '');
  if (red === undefined || green === undefined || blue === undefined) {
    return 'ok';
  }
  const high = Math.max(red, green, blue);
  // Red leads: the more green there is in it, the nearer it is to yellow.
  return red < high || blue > high * 0.6 || high < 60
    ? 'ok'
    : green > high * 0.45
      ? green > high * 0.95
        ? 'ok'
        : 'warning'
      : 'critical';
}

function channels(color: string): readonly (number | undefined)[] {
  const numbers = /^rgba?\(([^)]*)\)$/.exec(color)?.[1]?.split(',').map(Number);
  if (numbers !== undefined) {
    return numbers;
  }
  const hex = /^#([0-9A-Fa-f]{6})/.exec(color)?.[1];
  return hex === undefined ? [] : [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

const ofStates: Readonly<Record<State, string>> = {
  ok: 'green',
  warning: 'orange',
  critical: 'red',
};

/** Returns the color that stands for a state in Grafana. */
export const colorOfState = (state: State): string => ofStates[state];
