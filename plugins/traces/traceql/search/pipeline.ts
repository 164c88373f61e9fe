import type { AggregateFunction, FieldExpression, ScalarExpression, Stage } from '../parse/ast.ts';
import { isSpanset } from '../parse/parser.ts';
import { printField, printScalar } from '../parse/print.ts';
import type { Attribute, Value } from '../spans/span.ts';
import type { TraceView } from '../spans/trace-view.ts';
import { compileField, type Evaluate } from './field.ts';
import { compileSpanset, type Members } from './spanset.ts';
import { arithmetic, compare, isNumeric, keyOf, numberFrom } from './values.ts';

/** Spans of one trace that belong together, and what the pipeline found out about them. */
export interface Spanset {
  readonly members: Members;
  readonly attributes: readonly Attribute[];
}

export type RunPipeline = (view: TraceView, input: readonly Spanset[]) => readonly Spanset[];

/**
 * Compiles the stages of a query, up to its metrics, into one function; a spanset without spans is
 * dropped.
 */
export function compilePipeline(stages: readonly Stage[]): RunPipeline {
  const steps = stages.map(compileStage);
  return (view, input) => {
    let spansets = input;
    for (const step of steps) {
      spansets = step(view, spansets);
      if (spansets.length === 0) {
        break;
      }
    }
    return spansets;
  };
}

/** Runs over a whole trace. */
export function runOver(view: TraceView, run: RunPipeline): readonly Spanset[] {
  return run(view, [{ members: Array.from(view.spans.keys()), attributes: [] }]);
}

function compileStage(stage: Stage): RunPipeline {
  if (isSpanset(stage)) {
    const select = compileSpanset(stage, ({ stages }) => {
      const run = compilePipeline(stages);
      return (view, members) => merged(run(view, [{ members, attributes: [] }]));
    });
    return (view, input) =>
      input
        .map(({ members, attributes }) => ({ members: select(view, members), attributes }))
        .filter(({ members }) => members.length > 0);
  }
  switch (stage.kind) {
    case 'by':
      return grouping(stage.fields);
    case 'coalesce':
      return (_view, input) =>
        input.length < 2 ? input : [{ members: merged(input), attributes: [] }];
    case 'select':
      return (_view, input) => input;
    case 'compare':
      return filtering(stage);
  }
}

function merged(spansets: readonly Spanset[]): Members {
  return spansets.length === 1
    ? spansets[0]!.members
    : [...new Set(spansets.flatMap(({ members }) => members))].sort((a, b) => a - b);
}

/** Group of spans without the attribute, as shown. */
const nil: Value = { type: 'string', value: 'nil' };

function grouping(fields: readonly FieldExpression[]): RunPipeline {
  const columns = fields.map((field) => ({
    key: `by(${printField(field)})`,
    evaluate: compileField(field),
  }));
  return (view, input) =>
    input.flatMap(({ members, attributes }) => {
      const groups = new Map<string, { members: number[]; attributes: readonly Attribute[] }>();
      for (const index of members) {
        const values = columns.map(({ evaluate }) => evaluate(view, index));
        const key = JSON.stringify(values.map(keyOf));
        let group = groups.get(key);
        if (group === undefined) {
          const named = columns.map(({ key: name }, at) => ({
            key: name,
            value: values[at] ?? nil,
          }));
          groups.set(key, (group = { members: [], attributes: [...attributes, ...named] }));
        }
        group.members.push(index);
      }
      return [...groups.values()];
    });
}

function filtering(stage: Extract<Stage, { kind: 'compare' }>): RunPipeline {
  const left = compileScalar(stage.left);
  const right = compileScalar(stage.right);
  const shown = stage.left.kind === 'number' ? stage.right : stage.left;
  const key = printScalar(shown);
  return (view, input) =>
    input.flatMap(({ members, attributes }) => {
      const a = left(view, members);
      const b = right(view, members);
      if (a === undefined || b === undefined || !compare(stage.operator, a, b)) {
        return [];
      }
      return [
        {
          members,
          attributes: [
            ...attributes.filter((entry) => entry.key !== key),
            { key, value: shown === stage.left ? a : b },
          ],
        },
      ];
    });
}

type Scalar = (view: TraceView, members: Members) => Value | undefined;

function compileScalar(expression: ScalarExpression): Scalar {
  switch (expression.kind) {
    case 'number':
      return () => expression.value;
    case 'negative': {
      const operand = compileScalar(expression.operand);
      return (view, members) => {
        const value = operand(view, members);
        return value !== undefined && isNumeric(value)
          ? { type: value.type, value: numberFrom('-', 0, value.value) }
          : undefined;
      };
    }
    case 'arithmetic': {
      const left = compileScalar(expression.left);
      const right = compileScalar(expression.right);
      return (view, members) => {
        const a = left(view, members);
        const b = right(view, members);
        return a === undefined || b === undefined
          ? undefined
          : arithmetic(expression.operator, a, b);
      };
    }
    case 'aggregate':
      return expression.field === undefined
        ? (_view, members) => ({ type: 'int', value: members.length })
        : aggregate(expression.function, compileField(expression.field));
  }
}

/** Returns an aggregate of the spans that have a number there; nil without any. */
function aggregate(name: AggregateFunction, evaluate: Evaluate): Scalar {
  return (view, members) => {
    let type: 'int' | 'float' | 'duration' | undefined;
    let count = 0;
    let sum = 0;
    let least = Infinity;
    let most = -Infinity;
    for (const index of members) {
      const value = evaluate(view, index);
      if (value === undefined || !isNumeric(value)) {
        continue;
      }
      type =
        type === undefined || type === value.type
          ? value.type
          : type === 'duration' || value.type === 'duration'
            ? 'duration'
            : 'float';
      count++;
      sum += value.value;
      least = Math.min(least, value.value);
      most = Math.max(most, value.value);
    }
    if (type === undefined) {
      return undefined;
    }
    const value = { count, sum, min: least, max: most, avg: sum / count }[name];
    return { type: name === 'avg' && type === 'int' ? 'float' : type, value };
  };
}
