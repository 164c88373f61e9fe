import { Socket } from 'node:net';

import { type Address, addressOf } from '../../../core/storage/postgres/address.ts';
import { open, type Way } from '../../../core/storage/postgres/line.ts';
import { asKnown } from '../../../core/storage/postgres/trouble.ts';
import { quoted } from '../../../core/storage/postgres/words.ts';
import type { Owner, OwnerRow } from './lease.ts';

interface Line {
  readonly client: ReturnType<typeof open>;
  readonly socket: Socket;
}

/** Longer than a successor waits for the last group of a stalled owner. */
const answerMs = 20_000;
/** A renewal that takes longer is of no use any more. */
const renewalMs = 3_000;

/** This node, as the others see it. */
export interface NodeCard {
  readonly id: string;
  readonly url: string;
  readonly wire: string;
  /** Pin of the certificate at the URL; empty if there is none. */
  readonly pin: string;
  readonly version: string;
}

/** A node, as its row tells. */
export interface NodeSeen extends NodeCard {
  readonly isOwner: boolean;
  readonly isDrained: boolean;
  /** Time since it was seen. */
  readonly ageMs: number;
}

/**
 * Rows about nodes, over a connection of their own: they are read and written also where no house runs, and never wait
 * behind its writes.
 */
export class NodeRows implements OwnerRow {
  readonly #way: Way;
  readonly #schema: string;
  readonly #card: NodeCard;
  #line: Line | undefined;

  constructor(url: string, card: NodeCard) {
    const address: Address = addressOf(url);
    this.#way = { address, sessions: true };
    this.#schema = quoted(address.schema);
    this.#card = card;
  }

  /** Makes the tables, which no migration makes: they are needed before there is an owner that could migrate. */
  async prepare(): Promise<void> {
    const schema = this.#schema;
    await this.#ask(
      `do $$ begin
        perform pg_advisory_xact_lock(hashtextextended('${schema.replaceAll("'", "''")}', 0));
        create schema if not exists ${schema};
        create table if not exists ${schema}.core_owner (one integer not null default 1 unique check (one = 1),
          epoch bigint primary key, node text not null, until timestamptz not null, url text not null, wire text not null);
        create table if not exists ${schema}.core_node (node text primary key, url text not null, wire text not null,
          pin text not null, version text not null, seen timestamptz not null, drained boolean not null default false);
        insert into ${schema}.core_owner (epoch, node, until, url, wire) select 0, '', '-infinity', '', ''
          where not exists (select from ${schema}.core_owner);
      end $$`,
    );
  }

  async look(): Promise<Owner> {
    const [row] = await this.#ask<Owner>(
      `select node, epoch, url, wire, case when until < 'epoch' then -1
        else extract(epoch from until - clock_timestamp())::float8 * 1000 end as "leftMs" from ${this.#schema}.core_owner`,
    );
    return row!;
  }

  async take(seen: number, leaseMs: number): Promise<number | undefined> {
    const { id, url, wire } = this.#card;
    const [row] = await this.#ask<{ epoch: number }>(
      `update ${this.#schema}.core_owner set epoch = epoch + 1, node = $2, url = $3, wire = $4,
        until = clock_timestamp() + $5::float8 * interval '1 millisecond'
        where epoch = $1 and until < clock_timestamp() returning epoch`,
      [seen, id, url, wire, leaseMs],
    );
    return row?.epoch;
  }

  async renew(epoch: number, leaseMs: number): Promise<boolean> {
    const rows = await this.#ask(
      `update ${this.#schema}.core_owner set until = clock_timestamp() + $3::float8 * interval '1 millisecond'
        where epoch = $1 and node = $2 returning epoch`,
      [epoch, this.#card.id, leaseMs],
      renewalMs,
    );
    return rows.length > 0;
  }

  async release(epoch: number): Promise<void> {
    await this.#ask(
      `update ${this.#schema}.core_owner set until = '-infinity' where epoch = $1 and node = $2`,
      [epoch, this.#card.id],
    );
  }

  /** Says that this node is there; returns whether it is to be drained. */
  async beat(): Promise<boolean> {
    const { id, url, wire, pin, version } = this.#card;
    const [row] = await this.#ask<{ drained: number }>(
      `insert into ${this.#schema}.core_node (node, url, wire, pin, version, seen) values ($1, $2, $3, $4, $5, clock_timestamp())
        on conflict (node) do update set url = $2, wire = $3, pin = $4, version = $5, seen = clock_timestamp() returning drained`,
      [id, url, wire, pin, version],
      renewalMs,
    );
    return row!.drained === 1;
  }

  /** All nodes that there are or were, in an order that stays. */
  async list(): Promise<readonly NodeSeen[]> {
    const rows = await this.#ask<NodeSeen & { owner: number; drained: number }>(
      `select n.node as id, n.url, n.wire, n.pin, n.version, n.drained,
        extract(epoch from clock_timestamp() - n.seen)::float8 * 1000 as "ageMs",
        (o.node = n.node and o.until > clock_timestamp()) as owner
        from ${this.#schema}.core_node as n, ${this.#schema}.core_owner as o order by n.node limit 100`,
    );
    return rows.map(({ owner, drained, ...node }) => ({
      ...node,
      isOwner: owner === 1,
      isDrained: drained === 1,
    }));
  }

  async setDrained(id: string, isDrained: boolean): Promise<void> {
    await this.#ask(`update ${this.#schema}.core_node set drained = $2 where node = $1`, [
      id,
      isDrained,
    ]);
  }

  async forget(id: string): Promise<void> {
    await this.#ask(`delete from ${this.#schema}.core_node where node = $1`, [id]);
  }

  async close(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    await (await line?.client.catch(() => undefined))?.end();
  }

  /** A connection that has failed once is given up: what it would answer next may be the answer to another question. */
  async #ask<R>(text: string, values: readonly unknown[] = [], ms = answerMs): Promise<R[]> {
    const line = (this.#line ??= this.#connect());
    try {
      const client = await line.client;
      const query = { text, values: [...values], query_timeout: ms };
      const { rows } = await client.query(query);
      return rows as R[];
    } catch (error) {
      if (this.#line === line) {
        this.#line = undefined;
      }
      line.socket.destroy();
      throw asKnown(error);
    }
  }

  #connect(): Line {
    const socket = new Socket();
    return { socket, client: open(this.#way, { stream: () => socket }) };
  }
}
