package javafacts;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.FieldDeclaration;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.env.AccessRestriction;
import org.eclipse.jdt.internal.compiler.env.IBinaryType;
import org.eclipse.jdt.internal.compiler.env.ICompilationUnit;
import org.eclipse.jdt.internal.compiler.env.ISourceType;
import org.eclipse.jdt.internal.compiler.impl.CompilerOptions;
import org.eclipse.jdt.internal.compiler.impl.ITypeRequestor;
import org.eclipse.jdt.internal.compiler.lookup.LookupEnvironment;
import org.eclipse.jdt.internal.compiler.lookup.PackageBinding;
import org.eclipse.jdt.internal.compiler.parser.Parser;
import org.eclipse.jdt.internal.compiler.problem.ProblemReporter;

/**
 * One environment of the compiler: files in, resolved trees out, one after another. Other files that they need are
 * read on demand, without bodies. Code is neither analysed nor generated.
 */
final class Resolver implements ITypeRequestor {
    final LookupEnvironment environment;
    final TypeNames names;
    private final Parser parser;
    private final Map<Source, CompilationUnitDeclaration> units = new IdentityHashMap<>();

    Resolver(TypeNames names) {
        this.names = names;
        CompilerOptions options = Settings.options();
        ProblemReporter reporter = Settings.reporter(options);
        environment = new LookupEnvironment(this, options, reporter, names);
        parser = new Parser(reporter, options.parseLiteralExpressionsAsConstants);
    }

    /** Read files that will be resolved; types that these declare are then known by name. */
    void read(List<Source> files) {
        for (Source file : files) {
            CompilationUnitDeclaration unit = parse(file);
            if (unit.moduleDeclaration == null) {
                environment.buildTypeBindings(unit, null);
            }
        }
        environment.completeTypeBindings();
    }

    private CompilationUnitDeclaration parse(Source file) {
        CompilationUnitDeclaration unit = parser.dietParse(file, new CompilationResult(file, 0, 1, 1));
        units.put(file, unit);
        return unit;
    }

    /** The tree of a file with every name resolved that can be. */
    CompilationUnitDeclaration resolve(Source file) {
        CompilationUnitDeclaration unit = units.get(file);
        environment.unitBeingCompleted = unit;
        try {
            parser.getMethodBodies(unit);
            if (unit.scope != null && unit.moduleDeclaration == null) {
                unit.scope.faultInTypes();
                unit.resolve();
            }
        } finally {
            environment.unitBeingCompleted = null;
        }
        return unit;
    }

    /** The tree of a file as far as it was resolved. */
    CompilationUnitDeclaration tree(Source file) {
        return units.get(file);
    }

    /** Forget the bodies of a file; what others see of it stays. */
    void release(Source file) {
        CompilationUnitDeclaration unit = units.get(file);
        unit.localTypes = null;
        unit.comments = null;
        unit.functionalExpressions = null;
        if (unit.types != null) {
            for (TypeDeclaration type : unit.types) {
                release(type);
            }
        }
    }

    private static void release(TypeDeclaration type) {
        type.javadoc = null;
        if (type.methods != null) {
            for (AbstractMethodDeclaration method : type.methods) {
                method.statements = null;
                method.javadoc = null;
            }
        }
        if (type.fields != null) {
            for (FieldDeclaration field : type.fields) {
                field.initialization = null;
                field.javadoc = null;
                if (field instanceof org.eclipse.jdt.internal.compiler.ast.Initializer initializer) {
                    initializer.block = null;
                }
            }
        }
        if (type.memberTypes != null) {
            for (TypeDeclaration member : type.memberTypes) {
                release(member);
            }
        }
    }

    @Override
    public void accept(IBinaryType type, PackageBinding packageBinding, AccessRestriction restriction) {
        environment.createBinaryTypeFrom(type, packageBinding, restriction);
    }

    @Override
    public void accept(ICompilationUnit file, AccessRestriction restriction) {
        Source source = (Source) file;
        if (units.containsKey(source)) {
            return; // its types are known already; this one is not among them
        }
        CompilationUnitDeclaration unit = parse(source);
        environment.buildTypeBindings(unit, restriction);
        environment.completeTypeBindings(unit);
    }

    @Override
    public void accept(ISourceType[] types, PackageBinding packageBinding, AccessRestriction restriction) {
        throw new IllegalStateException("sources come as files");
    }
}
