package javafacts;

import java.util.Locale;
import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.DefaultErrorHandlingPolicies;
import org.eclipse.jdt.internal.compiler.impl.CompilerOptions;
import org.eclipse.jdt.internal.compiler.impl.IrritantSet;
import org.eclipse.jdt.internal.compiler.impl.ReferenceContext;
import org.eclipse.jdt.internal.compiler.problem.DefaultProblemFactory;
import org.eclipse.jdt.internal.compiler.problem.ProblemReporter;

/** How the compiler is set up: the newest language, comments read, no processors, and no error ends anything. */
final class Settings {
    private Settings() {}

    static CompilerOptions options() {
        CompilerOptions options = new SilentOptions();
        long level = CompilerOptions.versionToJdkLevel(CompilerOptions.getLatestVersion());
        options.complianceLevel = level;
        options.sourceLevel = level;
        options.targetJDK = level;
        options.docCommentSupport = true;
        options.performMethodsFullRecovery = true;
        options.performStatementsRecovery = true;
        options.processAnnotations = false;
        options.generateClassFiles = false;
        options.maxProblemsPerUnit = 1;
        return options;
    }

    /** A reporter that drops problems. Without it a class that is missing on the class path ends the compilation. */
    static ProblemReporter reporter(CompilerOptions options) {
        return new SilentReporter(options);
    }

    /** No optional problem is looked for. */
    private static final class SilentOptions extends CompilerOptions {
        SilentOptions() {
            errorThreshold = new IrritantSet(0);
            warningThreshold = new IrritantSet(0);
            infoThreshold = new IrritantSet(0);
        }
    }

    private static final class SilentReporter extends ProblemReporter {
        SilentReporter(CompilerOptions options) {
            super(DefaultErrorHandlingPolicies.ignoreAllProblems(), options, new DefaultProblemFactory(Locale.ENGLISH));
        }

        @Override
        public void handle(
                int problem,
                String[] arguments,
                int elaboration,
                String[] texts,
                int severity,
                int start,
                int end,
                ReferenceContext context,
                CompilationResult result) {
            // What does not resolve has no binding, and is counted by who reads the tree.
        }
    }
}
