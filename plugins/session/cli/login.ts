import {
  type Call,
  type Command,
  usageFailure,
  checkedUrl,
  clientOptions,
  localSvc,
  printable,
  checkedName,
  defaultProfile,
  findProfile,
  flagOf,
  type Profile,
  profileOf,
  saveProfile,
  type SignedIn,
  openQuestions,
  type Questions,
  type Shell,
} from 'svc/cli';

export const command: Command = {
  operands: [],
  options: {
    url: {
      value: 'url',
      about:
        'address of the svc server; default: the address in the profile, or that of the svc process using the data folder',
    },
    email: { value: 'email', about: 'e-mail address of the account; prompted for if omitted' },
    profile: {
      value: 'name',
      about:
        'name under which to store the session, for the --profile option of other commands; without it, stores the session that commands use by default',
    },
    insecure: clientOptions.insecure,
  },
  about:
    'Prompts for the password, or reads it from standard input. Other commands then act as you until "svc logout".',
  example: 'svc login --url https://svc.example.org --email ann@example.org',

  async run(call, shell) {
    const name = checkedName(call.value('profile') ?? defaultProfile);
    const saved = findProfile(name, call.environment);
    const url = checkedUrl(await addressOf(call, saved, shell), call);
    const questions = openQuestions();
    const email = await emailOf(call, saved, questions);
    const password = await questions.askHidden(`Password for ${printable(email)}`);
    const signedIn = await shell.connect({ url }).post<SignedIn>('/api/v1/auth/login', {
      email,
      password,
    });
    const profile = profileOf(url, signedIn);
    await saveProfile(name, profile, call.environment);
    const { role } = signedIn.user;
    return {
      data: { profile: name, url, email: profile.email, role, expires_at: profile.expires_at },
      text: () =>
        printable(
          `Signed in at ${url} as ${profile.email} (${role}); sign out with "svc logout${flagOf(name)}"`,
        ),
    };
  },
};

async function addressOf(call: Call, saved: Profile | undefined, shell: Shell): Promise<string> {
  return (
    call.value('url') ?? (call.has('data') ? undefined : saved?.url) ?? (await localSvc(shell)).url
  );
}

async function emailOf(
  call: Call,
  saved: Profile | undefined,
  questions: Questions,
): Promise<string> {
  const known = call.value('email') ?? saved?.email;
  if (known === undefined && !questions.atTerminal) {
    throw usageFailure('pass the account with --email; standard input is read for its password');
  }
  return known ?? (await questions.ask('E-mail'));
}
