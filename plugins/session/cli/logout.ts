import {
  type Command,
  asFailure,
  Failure,
  checkedUrl,
  clientOptions,
  printable,
  currentProfile,
  defaultProfile,
  findProfile,
  flagOf,
  removeProfile,
} from 'svc/cli';

export const command: Command = {
  operands: [],
  options: {
    profile: {
      value: 'name',
      about: 'profile to sign out of, created by "svc login --profile <name>"',
    },
    insecure: clientOptions.insecure,
  },
  about:
    'Ends the session on the server and deletes it from this machine, even if the server cannot be reached.',
  example: 'svc logout',

  async run(call, shell) {
    const name = call.value('profile') ?? defaultProfile;
    const saved = findProfile(name, call.environment);
    if (!saved) {
      throw new Failure(
        1,
        'not_found',
        `not signed in${flagOf(name) && ` as profile "${name}"`}: nothing to end`,
      );
    }
    const { url, email } = saved;
    checkedUrl(url, call);
    const problem = await endSession().catch(asFailure);
    await removeProfile(name, call.environment);
    // A session that svc does not know any more has ended already.
    if (problem && problem.code !== 'unauthorized') {
      const { exitCode, code, message } = problem;
      throw new Failure(
        exitCode,
        code,
        `signed out on this machine only; on the server the session expires within a week (${message})`,
        { cause: problem },
      );
    }
    return {
      data: { profile: name, url, email },
      text: () => printable(`Signed out at ${url} as ${email}`),
    };

    async function endSession(): Promise<undefined> {
      const { access_token: token } = await currentProfile(name, call.environment, shell.connect);
      await shell.connect({ url, token }).post('/api/v1/auth/logout');
    }
  },
};
