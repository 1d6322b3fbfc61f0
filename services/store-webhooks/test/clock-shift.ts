/** Shifts the clock of a process by `ms`. Load it before the service: `--import <this file's URL>?ms=1000`. */
const shiftMs = Number(new URL(import.meta.url).searchParams.get('ms'));
const RealDate = Date;
const now = (): number => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) =>
    args.length === 0 ? new target(now()) : (Reflect.construct(target, args) as Date),
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});
