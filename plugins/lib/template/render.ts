import { isSvcError, messageOf } from 'svc/sdk';

import type { Command, Node, Operand, Pipeline } from './ast.ts';
import type { TemplateFunction } from './functions.ts';
import { templateError } from './template-error.ts';
import { display, fieldOf, isRecord, isTrue, sortedEntries, typeName } from './values.ts';

export interface RenderLimits {
  /** Characters of the result, and of any text on the way to it. */
  readonly output: number;
  /** Nodes visited and functions called; long texts count as many. */
  readonly steps: number;
}

/**
 * Result of a list to its caller: `{{break}}` and `{{continue}}` propagate up to their `{{range}}`.
 */
type Flow = 'next' | 'break' | 'continue';

const charactersPerStep = 64;

export class Rendering {
  readonly #source: string;
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  readonly #limits: RenderLimits;
  readonly #data: unknown;
  #out = '';
  #steps = 0;
  readonly #names: string[] = [];
  readonly #values: unknown[] = [];

  constructor(
    source: string,
    functions: ReadonlyMap<string, TemplateFunction>,
    limits: RenderLimits,
    data: unknown,
    variables: Iterable<readonly [string, unknown]>,
  ) {
    this.#source = source;
    this.#functions = functions;
    this.#limits = limits;
    this.#data = data;
    for (const [name, value] of variables) {
      this.#names.push(name);
      this.#values.push(value);
    }
  }

  run(nodes: readonly Node[]): string {
    this.#list(nodes, this.#data);
    return this.#out;
  }

  #list(nodes: readonly Node[], dot: unknown): Flow {
    for (const node of nodes) {
      this.#step(node.at, 1);
      const flow = this.#node(node, dot);
      if (flow !== 'next') {
        return flow;
      }
    }
    return 'next';
  }

  #node(node: Node, dot: unknown): Flow {
    switch (node.kind) {
      case 'text':
        this.#write(node.text, node.at);
        return 'next';
      case 'action': {
        const value = this.#pipeline(node.pipeline, dot);
        if (node.pipeline.targets.length === 0) {
          this.#write(display(value), node.at);
        }
        return 'next';
      }
      case 'break':
      case 'continue':
        return node.kind;
      case 'range':
      case 'if':
      case 'with': {
        const held = this.#names.length;
        const flow = node.kind === 'range' ? this.#range(node, dot) : this.#branch(node, dot);
        this.#forget(held);
        return flow;
      }
    }
  }

  #branch(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: unknown): Flow {
    const value = this.#pipeline(node.pipeline, dot);
    return isTrue(value)
      ? this.#list(node.body, node.kind === 'with' ? value : dot)
      : this.#list(node.otherwise, dot);
  }

  #range(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: unknown): Flow {
    const { targets, declares } = node.pipeline;
    const entries = this.entries(
      this.#pipeline({ ...node.pipeline, targets: [] }, dot),
      node.pipeline.at,
    );
    const held = this.#names.length;
    let any = false;
    for (const [key, value] of entries) {
      any = true;
      this.#step(node.at, 1);
      const given = targets.length === 2 ? [key, value] : [value];
      targets.forEach((name, i) =>
        declares ? this.#declare(name, given[i]) : this.#assign(name, given[i]),
      );
      const flow = this.#list(node.body, value);
      this.#forget(held);
      if (flow === 'break') {
        break;
      }
    }
    return any ? 'next' : this.#list(node.otherwise, dot);
  }

  private *entries(value: unknown, at: number): Generator<[unknown, unknown]> {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        yield [BigInt(i), value[i]];
      }
    } else if (isRecord(value)) {
      yield* sortedEntries(value);
    } else if (typeof value === 'bigint') {
      for (let i = 0n; i < value; i++) {
        yield [i, i];
      }
    } else if (value !== undefined && value !== null) {
      throw this.#fail(at, `range can't iterate over ${display(value)}`);
    }
  }

  #pipeline(pipeline: Pipeline, dot: unknown): unknown {
    let value: unknown;
    let piped = false;
    for (const command of pipeline.commands) {
      value = this.#command(command, dot, piped, value);
      piped = true;
    }
    for (const name of pipeline.targets) {
      if (pipeline.declares) {
        this.#declare(name, value);
      } else {
        this.#assign(name, value);
      }
    }
    return value;
  }

  #command({ first, rest, at }: Command, dot: unknown, piped: boolean, final: unknown): unknown {
    if (first.kind !== 'call') {
      return this.#operand(first, dot);
    }
    const { name } = first;
    if (name === 'and' || name === 'or') {
      return this.#shortCircuit(name, rest, dot, piped, final);
    }
    const args = rest.map((operand) => this.#operand(operand, dot));
    if (piped) {
      args.push(final);
    }
    return this.#call(name, args, at);
  }

  #shortCircuit(
    name: 'and' | 'or',
    operands: readonly Operand[],
    dot: unknown,
    piped: boolean,
    final: unknown,
  ): unknown {
    let value: unknown;
    for (const operand of operands) {
      value = this.#operand(operand, dot);
      if (isTrue(value) === (name === 'or')) {
        return value;
      }
    }
    return piped ? final : value;
  }

  #operand(operand: Operand, dot: unknown): unknown {
    this.#step(operand.at, 1);
    switch (operand.kind) {
      case 'literal':
        return operand.value;
      case 'dot':
        return this.#fields(dot, operand.chain, operand.at);
      case 'variable':
        return this.#fields(
          operand.name === '' ? this.#data : this.#values[this.#names.lastIndexOf(operand.name)],
          operand.chain,
          operand.at,
        );
      case 'pipeline': {
        const held = this.#names.length;
        const value = this.#pipeline(operand.pipeline, dot);
        this.#forget(held);
        return this.#fields(value, operand.chain, operand.at);
      }
      case 'call':
        return this.#call(operand.name, [], operand.at);
    }
  }

  #fields(start: unknown, chain: readonly string[], at: number): unknown {
    let value = start;
    for (const name of chain) {
      if (value === undefined || value === null) {
        throw this.#fail(at, `nil data; no entry for key "${name}"`);
      }
      if (!isRecord(value)) {
        throw this.#fail(at, `can't evaluate field ${name} in type ${typeName(value)}`);
      }
      value = fieldOf(value, name);
    }
    return value;
  }

  #call(name: string, args: readonly unknown[], at: number): unknown {
    const known = this.#functions.get(name)!;
    if (args.length < known.takes[0]) {
      throw this.#fail(
        at,
        `wrong number of args for ${name}: want ${known.takes[0]} got ${args.length}`,
      );
    }
    const value = this.#guarded(name, at, () => known.call(args, this.#limits.output));
    if (typeof value === 'string' && value.length > this.#limits.output) {
      throw this.#fail(at, `${name} makes a text of more than ${this.#limits.output} characters`);
    }
    const characters = [...args, value].reduce(
      (sum: number, text) => sum + (typeof text === 'string' ? text.length : 0),
      0,
    );
    this.#step(at, 1 + Math.floor(characters / charactersPerStep));
    return value;
  }

  #guarded<T>(name: string, at: number, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw isSvcError(error) && error.message.startsWith('template:')
        ? error
        : this.#fail(at, `error calling ${name}: ${messageOf(error)}`);
    }
  }

  #declare(name: string, value: unknown): void {
    this.#names.push(name);
    this.#values.push(value);
  }

  #assign(name: string, value: unknown): void {
    this.#values[this.#names.lastIndexOf(name)] = value;
  }

  #forget(held: number): void {
    this.#names.length = held;
    this.#values.length = held;
  }

  #write(text: string, at: number): void {
    this.#step(at, Math.floor(text.length / charactersPerStep));
    this.#out += text;
    if (this.#out.length > this.#limits.output) {
      throw this.#fail(at, `the result grows past ${this.#limits.output} characters`);
    }
  }

  #step(at: number, count: number): void {
    this.#steps += count;
    if (this.#steps > this.#limits.steps) {
      throw this.#fail(at, `the template takes more than ${this.#limits.steps} steps`);
    }
  }

  #fail(at: number, message: string): Error {
    return templateError(this.#source, at, message);
  }
}
