import { spawnSync } from 'node:child_process';

const room = 'svc-rca-real';
const [near, far] = ['svcrca0', 'svcrca1'];
const [nearAddress, farAddress] = ['10.213.77.1', '10.213.77.2'];

const ip = (...args: readonly string[]): boolean =>
  spawnSync('ip', args, { env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin' } }).status === 0;
const tc = (...args: readonly string[]): boolean =>
  spawnSync('tc', args, { env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin' } }).status === 0;

/** A link of its own for one store, which can lose packets without harm to the rest of the machine; loopback where the kernel lends none. */
export class Link {
  #isOpen = false;

  get address(): string {
    return this.#isOpen ? farAddress : '127.0.0.1';
  }

  open(): void {
    this.close();
    this.#isOpen =
      ip('netns', 'add', room) &&
      ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', room) &&
      ip('addr', 'add', `${nearAddress}/30`, 'dev', near) &&
      ip('link', 'set', near, 'up') &&
      ip('-n', room, 'addr', 'add', `${farAddress}/30`, 'dev', far) &&
      ip('-n', room, 'link', 'set', far, 'up');
    if (!this.#isOpen) {
      this.close();
    }
  }

  /** The command that runs a program at the far end. */
  inside(program: string): readonly string[] {
    return this.#isOpen ? ['ip', 'netns', 'exec', room, program] : [program];
  }

  /** Loses packets: a share of all, or, where the kernel has no such queue, whatever is more than a narrow link takes. Says how; undefined where neither is lent. */
  lose(): string | undefined {
    if (!this.#isOpen) {
      return undefined;
    }
    if (tc('qdisc', 'add', 'dev', near, 'root', 'netem', 'loss', '30%')) {
      return 'netem';
    }
    return tc(...`qdisc add dev ${near} root tbf rate 60kbit burst 2kb limit 3kb`.split(' '))
      ? 'tbf'
      : undefined;
  }

  restore(): void {
    tc('qdisc', 'del', 'dev', near, 'root');
  }

  close(): void {
    ip('link', 'del', near);
    ip('netns', 'del', room);
    this.#isOpen = false;
  }
}
