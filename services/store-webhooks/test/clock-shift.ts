/** Loaded before the service (`node --import`): sets the clock of its machine ahead by `CLOCK_SHIFT_MS`. */
const shiftMs = Number(process.env['CLOCK_SHIFT_MS']);
const RealDate = Date;
const now = (): number => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) =>
    args.length === 0 ? new target(now()) : (Reflect.construct(target, args) as Date),
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});
