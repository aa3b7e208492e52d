//! One variant a form.

/// Names a form: its mnemonic followed by the classes of its operands, in the order of the
/// specification's table (`m a mp ap aq` registers, `bl bu b` broadcasts, `z s h` immediates).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "each name spells out the form; the table says the rest")]
#[rustfmt::skip]
pub enum Op {
    // integer
    AbsMM, Bitrev8MM, CmsMM, ClzMM, PopcMM, Sort8MM, Swap8MM, AddMMM, AndMMM, AndcMMM, CmpeqMMM,
    CmpneMMM, CmpsltMMM, CmpultMMM, MaxMMM, MinMMM, MulMMM, OrMMM, Roll16MMM, Roll8lMMM, Roll8rMMM,
    ShlMMM, ShrMMM, ShrsMMM, Shuf8x8hiMMM, Shuf8x8loMMM, Sort4x16hiMMM, Sort4x16loMMM, Sort8x8hiMMM,
    Sort8x8loMMM, SubMMM, XnorMMM, XorMMM, AddMMS16, AddMMZ16, CmpeqMMS16, CmpeqMMZ16, CmpsltMMS16,
    CmpultMMZ16, MaxMMS16, MaxMMZ16, MinMMS16, MinMMZ16, MulMMS16, SubMS16M, SubMZ16M, AndMMZ12,
    OrMMZ12, ShlMMZ12, AndcMMZ12, OrMMH12, ShrMMZ12, ShrsMMZ12, SetziMZ20, MovzMMM, AtomMA,
    And64ApApAp, AndAAA, Andc64ApApAp, AndcAAA, AndAAH12, AndAAZ12, AndcAAH12, AndcAAZ12, OrAAH12,
    OrAAZ12, Not64ApAp, NotAA, Sort8AA, Swap8AA, Or64ApApAp, OrAAA, Roll16AAA, Roll32ApApAp,
    Roll8lAAA, Roll8rAAA, SetziAZ20, Shuf8x8hiAAA, Shuf8x8loAAA, Sort8x8hiAAA, Sort8x8loAAA,
    Sort4x16hiAAA, Sort4x16hiABlA, Sort4x16loAAA, Sort4x16loABuA, Sort4x32hiApApAp,
    Sort4x32loApApAp,
    // memory
    Ld32MMMM, Ld32MMMZ12, Ld32stepMMMM, Ld32stepMMMS8, Lds16MMMM, Lds16MMMZ12, Lds16stepMMMM,
    Lds16stepMMMS8, Lds8MMMM, Lds8MMMZ12, Lds8stepMMMM, Lds8stepMMMS8, Ldz16MMMM, Ldz16MMMZ12,
    Ldz16stepMMMM, Ldz16stepMMMS8, Ldz8MMMM, Ldz8MMMZ12, Ldz8stepMMMM, Ldz8stepMMMS8, Stm32stepMMM,
    St32MMMZ12, St32stepMMMS8, Stm32MMM, TapackMpMMM, Ld128AqMMM, Ld128AqMMZ12, Ld128stepAqMMM,
    Ld128stepAqMMS8, Ld32AMMM, Ld32AMMZ12, Ld32stepAMMM, Ld32stepAMMS8, Ld64ApMMM, Ld64ApMMZ12,
    Ld64stepApMMM, Ld64stepApMMS8, Ldb16AMMM, Ldb16AMMZ12, Ldb16stepAMMM, Ldb16stepAMMS8, Ldb8AMMM,
    Ldb8AMMZ12, Ldb8stepAMMM, Ldb8stepAMMS8, Ld2x64paceApApMpMZ4, Ld64a32paceApAMpMZ4,
    Ld64b16paceApAMpMZ4, Ld2xst64paceAqApMpMZ6, Ldst64paceApApMpMZ4, Ld64a32AqMMM, Ldb16b16ApMMM,
    Ldd16a32AMMM, Ldd16a64ApMMM, Ldd16b16AMMM, Ldd16v2a32AMMM, St32AMMM, St32AMMZ12, St32stepAMMM,
    St32stepAMMS8, St64ApMMM, St64ApMMZ12, St64stepApMMM, St64stepApMMS8, St64paceApMpMZ8,
    // control
    BrM, BriTarget, BrnegMTarget, BrnzMTarget, BrposMTarget, BrzMTarget, BrnzdecMTarget,
    CallMTarget, ExitnegM, ExitnzM, ExitposM, ExitzM, RptMZ8, RptZ12Z8,
    // system
    GetMCsr, PutCsrM, TrapZ4, RunMMZ16, RunallMMZ16, UgetACsr, UputCsrA,
    // exchange
    SyncZ4, SansZ19, DelayZ19, DelaypicZ7Z1Z18, DelayxpicZ12Z1Z13, SendZ6Z18Z3, SendoffZ12Z11Z3,
    SendpicZ6Z2Z18, SendpicpZ6Z18Z3Z1,
    // float
    F32cmpeqAAA, F32cmpgeAAA, F32cmpgtAAA, F32cmpleAAA, F32cmpltAAA, F32cmpneAAA, F32addAAA,
    F32mulAAA, F32subAAA, F32maxAAA, F32minAAA, F32classAA, F32exp2AA, F32expAA, F32fromi32AA,
    F32fromui32AA, F32lnAA, F32log2AA, F32oorxAA, F32ooxAA, F32sigmAA, F32sqrtAA, F32sufromuiAA,
    F32tanhAA, F32tof16AA, F32toi32AA, F32toui32AA, F32absaddAAA, F32absmaxAAA, F32divAAA,
    F32intAAZ4,
    // half
    F16tof32AA, F16v2absaddAAA, F16v2absmaxAAA, F16v2cmpeqAAA, F16v2cmpeqABlA, F16v2cmpeqABuA,
    F16v2cmpgeAAA, F16v2cmpgeABlA, F16v2cmpgeABuA, F16v2cmpgtAAA, F16v2cmpgtABlA, F16v2cmpgtABuA,
    F16v2cmpleAAA, F16v2cmpleABlA, F16v2cmpleABuA, F16v2cmpltAAA, F16v2cmpltABlA, F16v2cmpltABuA,
    F16v2cmpneAAA, F16v2cmpneABlA, F16v2cmpneABuA, F16v2addAAA, F16v2addABlA, F16v2addABuA,
    F16v2mulAAA, F16v2mulABlA, F16v2mulABuA, F16v2subAAA, F16v2subABlA, F16v2subABuA, F16v2maxAAA,
    F16v2minAAA, F16v4cmpeqApApAp, F16v4cmpeqApBlAp, F16v4cmpeqApBuAp, F16v4cmpgeApApAp,
    F16v4cmpgeApBlAp, F16v4cmpgeApBuAp, F16v4cmpgtApApAp, F16v4cmpgtApBlAp, F16v4cmpgtApBuAp,
    F16v4cmpleApApAp, F16v4cmpleApBlAp, F16v4cmpleApBuAp, F16v4cmpltApApAp, F16v4cmpltApBlAp,
    F16v4cmpltApBuAp, F16v4cmpneApApAp, F16v4cmpneApBlAp, F16v4cmpneApBuAp, F16v4addApApAp,
    F16v4addApBlAp, F16v4addApBuAp, F16v4mulApApAp, F16v4mulApBlAp, F16v4mulApBuAp, F16v4subApApAp,
    F16v4subApBlAp, F16v4subApBuAp, F16v4maxApApAp, F16v4minApApAp, F16v2classAA, F16v2exp2AA,
    F16v2expAA, F16v2lnAA, F16v2log2AA, F16v2maxcAA, F16v2sigmAA, F16v2sufromuiAA, F16v2sumAA,
    F16v2tanhAA, F16v2tof32ApA, F16v2tof8AA, F16v4classAAp, F16v4maxcAAp, F16v4sufromuiApAp,
    F16v4sumApAp, F16v8tof8ApAq, F8v2tof16AA, F8v4classAA, F8v4tof16ApA, F16v4absaddApApAp,
    F16v4absmaxApApAp,
    // vector
    F32v2cmpeqApApAp, F32v2cmpeqApBAp, F32v2cmpgeApApAp, F32v2cmpgeApBAp, F32v2cmpgtApApAp,
    F32v2cmpgtApBAp, F32v2cmpleApApAp, F32v2cmpleApBAp, F32v2cmpltApApAp, F32v2cmpltApBAp,
    F32v2cmpneApApAp, F32v2cmpneApBAp, F32v2addApApAp, F32v2addApBAp, F32v2mulApApAp, F32v2mulApBAp,
    F32v2subApApAp, F32v2subApBAp, F32v2maxApApAp, F32v2minApApAp, F32v2classAAp, F32v2sufromuiApAp,
    F32v2tof16AAp, F32v4tof16ApAq, F16v2cmacAA, F16v4cmacApAp, F32macAA, F32v2macApAp,
    F16v2ginaAAZ12, F32v2ginaApApZ12, F16v4gaccAp, F16v4absaccAp, F16v4accAp, F16v8absaccAq,
    F16v8accAq, F16v8sqaccAq, F32v4absaccAq, F32v4accAq, F32v4sqaccAq, F16v4mixApApAp,
    F32v2absaddApApAp, F32v2absmaxApApAp, F32v2axpyApApAp, F32v2aopApApZ8,
    // matrix
    Ld128putcsZ8, Ld64putcsZ8, F16v2clampAAA, F16v4clampApApA, F32clampAAAp, F32v2clampApApAp,
    F16v4hihoampAApAZ6, F16v4hihoslicAApAZ6, F16v4hihov4ampApApApZ6, F16v4hihov4slicApApApZ6,
    F16v4istaccApApApZ6, F16v4sihoampAApApZ6, F16v4sihoslicAApApZ6, F16v4sisoampApApApZ6,
    F16v4sisoslicApApApZ6, F32sisoampApAApZ6, F32sisoslicApAApZ6, F32sisov2ampApAApZ6,
    F32sisov2slicApAApZ6, F8v8hihov4ampApApApZ6, F8v8hihov4slicApApApZ6, F16v4staccApZ8,
    // random
    F16v2grandA, F32v2grandAp, Urand32A, Urand64Ap, F16v4rmaskApApA, F32v2rmaskApApA,
}
