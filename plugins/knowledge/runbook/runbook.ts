/** A playbook as steps that can be run one by one. */
export interface Runbook {
  /** Requirements of the readings, such as an exporter; '' if nothing but the agent. */
  readonly needs: string;
  readonly readings: Reading[];
  /** Whom to call and when. */
  readonly call: string[];
  readonly steps: Step[];
  readonly checks: Reading[];
}

/** A query whose answer is read beside its text. */
export interface Reading {
  readonly text: string;
  readonly language: Language;
  readonly query: string;
  /** True if the query still asks for the device of the example: no device was given. */
  readonly needs_device: boolean;
}

/** One step of the fix, as markdown. */
export interface Step {
  readonly text: string;
  readonly commands: string[];
  readonly cost: Cost | null;
  /** Skill that makes the change on the device; null if only a person can. */
  readonly change: Change | null;
}

export interface Cost {
  readonly risk: string;
  readonly takes: string;
  readonly undo: string;
}

export interface Change {
  readonly skill: string;
  /** Unit that the command names; '' if the playbook leaves it to the reader. */
  readonly service: string;
}

/** Anybody may write a document; what is longer than this is no playbook, and is read up to here. */
const [maxText, maxItem, maxItems] = [128 * 1_024, 8 * 1_024, 100];

const languages = ['promql', 'logql', 'traceql'] as const;
type Language = (typeof languages)[number];

/** Device that stands for any other in playbooks. */
const example = 'device_id="7"';
const replaceNote = /Replace 7 with the device ID[^.]*\.\s*/g;
const costForm = /(?:^|\n)\s*Risk: ([^]+?)\s+Takes: ([^]+?)\s+Undo: ([^]+?)\s*$/;
/** A unit that is named, or a word in capitals that stands for one. */
const restart = /(?:^|&& )(?:sudo )?systemctl restart ([\w@.:-]+)\s*$/m;

/** Reads a document that has the headings of a playbook; of any other, what it has of them. */
export function runbookOf(content: string, deviceId: number | null): Runbook {
  const sections = sectionsOf(content.slice(0, maxText));
  const reading = sections.get('First three readings') ?? '';
  const [needs = ''] = reading.split(/^(?=1\. )/m);
  return {
    needs: flat(needs.replaceAll(replaceNote, '')),
    readings: itemsOf(reading, /^\d+\. /).flatMap((item) => readingsIn(item, deviceId)),
    call: itemsOf(sections.get('When to call someone') ?? '', /^- /).map(flat),
    steps: itemsOf(sections.get('Fix') ?? '', /^- /).map(stepOf),
    checks: readingsIn(sections.get('Verify') ?? '', deviceId),
  };
}

/** Returns the text below each heading of the second level; one within a fence is none. */
function sectionsOf(content: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let heading = '';
  let isFenced = false;
  for (const line of content.split('\n')) {
    isFenced = /^\s*```/.test(line) ? !isFenced : isFenced;
    const [, title] = isFenced ? [] : (/^## (.+?)\s*$/.exec(line) ?? []);
    if (title === undefined) {
      sections.set(heading, `${sections.get(heading) ?? ''}${line}\n`);
    } else {
      heading = title;
    }
  }
  return sections;
}

/** Returns the items of a list without their marks and margins. */
function itemsOf(text: string, mark: RegExp): string[] {
  return text
    .split(/^(?=(?:- |\d+\. ))/m)
    .filter((item) => mark.test(item))
    .slice(0, maxItems)
    .map((item) => item.slice(0, maxItem))
    .map((item) =>
      (item.startsWith('- ')
        ? item.slice(2).replaceAll(/^ {1,2}/gm, '')
        : item.slice(item.indexOf(' ') + 1).replaceAll(/^ {1,3}/gm, '')
      ).trim(),
    );
}

function readingsIn(text: string, deviceId: number | null): Reading[] {
  const said = flat(text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(replaceNote, ''));
  return fencesIn(text).flatMap(({ language, code }) => {
    const known = languages.find((one) => one === language);
    return known === undefined
      ? []
      : [
          {
            text: said,
            language: known,
            query: deviceId === null ? code : code.replaceAll(example, `device_id="${deviceId}"`),
            needs_device: deviceId === null && code.includes(example),
          },
        ];
  });
}

function stepOf(item: string): Step {
  const commands = fencesIn(item)
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code);
  const text = item.replaceAll(/^```[^]*?^```$/gm, '').trim();
  const [whole, risk, takes, undo] = costForm.exec(text) ?? [];
  const [, unit] = restart.exec(commands.join('\n')) ?? [];
  return {
    text: whole === undefined ? text : text.slice(0, -whole.length).trim(),
    commands,
    cost:
      whole === undefined ? null : { risk: flat(risk!), takes: flat(takes!), undo: flat(undo!) },
    change:
      unit === undefined
        ? null
        : { skill: 'service_restart', service: /^[A-Z_]+$/.test(unit) ? '' : unit },
  };
}

const fencesIn = (text: string): readonly { readonly language: string; readonly code: string }[] =>
  [...text.matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!.trim(),
  }));

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
